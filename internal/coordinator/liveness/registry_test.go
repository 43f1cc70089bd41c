// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package liveness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

func process(pid int) coordinator.Process {
	return coordinator.Process{PID: pid, Started: fmt.Sprintf("boot/1/%d", pid)}
}

// TestFileSurvives: another coordinator knows what this one was told.
func TestFileSurvives(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "processes")
	r := Open(path, quietly())
	var all sync.WaitGroup
	for i := range 20 { // written together
		all.Go(func() {
			id := admission.SessionID(fmt.Sprintf("s%d", i))
			if err := r.Opened(id, process(i+1)); err != nil {
				t.Errorf("Opened: %v", err)
			}
			if known, err := r.Name(id, []coordinator.Process{process(100 + i), process(100 + i)}); !known || err != nil {
				t.Errorf("Name = %v, %v", known, err)
			}
		})
	}
	all.Wait()
	if known, err := r.Name("nobody", nil); known || err != nil {
		t.Errorf("Name of nobody = %v, %v", known, err)
	}
	r.forget("s0")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	again := Open(path, quietly())
	if _, ok := again.Known("s0"); ok {
		t.Error("a forgotten session is back")
	}
	want := Kin{Wrapper: process(8), Named: true, Senders: []coordinator.Process{process(107)}}
	got, ok := again.Known("s7")
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("s7 (-want +got):\n%s", diff)
	}
}

// TestSpoiltFile: what cannot be understood is not believed, and does not keep a
// coordinator from serving.
func TestSpoiltFile(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "{", `{"format":2,"sessions":{"a":{}}}`, `{"format":1,"sessions":{"a":{"named":"perhaps"}}}`} {
		path := filepath.Join(t.TempDir(), "processes")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		r := Open(path, quietly())
		if k, ok := r.Known("a"); ok {
			t.Errorf("%q says %+v", content, k)
		}
		if err := r.Opened("b", process(1)); err != nil {
			t.Errorf("after %q: %v", content, err)
		}
		if _, ok := Open(path, quietly()).Known("b"); !ok {
			t.Errorf("%q was not replaced", content)
		}
	}
}

// TestSendersMustBeKept: a sender that a restart would forget must not send.
func TestSendersMustBeKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r := Open(filepath.Join(dir, "processes"), quietly())
	if err := r.Opened("a", process(1)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Name("a", []coordinator.Process{process(2)}); err == nil {
		t.Error("a sender was taken that is on no file")
	}
}

// TestTooManySenders: the processes of a session are bounded.
func TestTooManySenders(t *testing.T) {
	t.Parallel()
	r := Open("", quietly())
	if err := r.Opened("a", process(1)); err != nil {
		t.Fatal(err)
	}
	var list []coordinator.Process
	for i := range MaxSenders + 1 {
		list = append(list, coordinator.Process{PID: i + 1})
	}
	if _, err := r.Name("a", list); !errors.Is(err, ErrTooMany) {
		t.Errorf("Name of %d: %v; want ErrTooMany", len(list), err)
	}
	if k, _ := r.Known("a"); len(k.Senders) != 0 || k.Named {
		t.Errorf("half of it was taken: %+v", k)
	}
}
