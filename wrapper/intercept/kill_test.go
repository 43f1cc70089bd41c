// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package intercept

import (
	"errors"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

// A provider that is killed with -9 in the middle of a change leaves no answer
// and no trace. What it did stays unknown, that it does no more is known, and
// nobody is given the process again.
func TestKilledProvider(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, time.Hour, nil)
		c := r.dial().configure("east")
		ch := c.plan(c.nothing(), c.thing(map[string]cty.Value{
			"name": cty.StringVal("a"), "hold": cty.StringVal(filepath.Join(t.TempDir(), "never")),
		}))
		result := c.applyLater(t.Context(), ch)
		eventually(t, "the change is under way", func() bool { return slices.Contains(r.notes(), "create a") })
		victim := r.pid("create a")
		if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := <-result; status.Code(err) != codes.Unavailable {
			t.Errorf("the CLI got %v, want Unavailable", err)
		}
		got := r.gate.ended()
		if len(got) != 1 || got[0].Result != Unknown || !got[0].SenderDead || !errors.Is(got[0].Err, plugins.ErrCrashed) {
			t.Fatalf("outcomes are %+v", got)
		}
		if crashes := r.host.Crashes(); len(crashes) != 1 || crashes[0].PID != victim || crashes[0].Trace != "" {
			t.Errorf("crashes are %+v, want that of %d", crashes, victim)
		}
		r.dial().configure("east").create(named("b"))
		if again := r.pid("create b"); again == victim || again == 0 {
			t.Errorf("process %d is used after %d was killed", again, victim)
		}
		eventually(t, "only the living are left", func() bool { return r.host.Processes() == 2 })
	})
}
