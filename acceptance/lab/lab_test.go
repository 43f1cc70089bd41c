// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

func TestPinnedVersionIsThatOfTheToolsModule(t *testing.T) {
	t.Parallel()
	got, err := pinnedVersion(filepath.Join("..", "..", "tools", "tofu", "go.mod"))
	if err != nil || !strings.HasPrefix(got, "v1.") {
		t.Errorf("pinned version %q, %v", got, err)
	}
	other := filepath.Join(t.TempDir(), "go.mod")
	if err := os.WriteFile(other, []byte("module m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := pinnedVersion(other); err == nil {
		t.Errorf("a version out of nothing: %q", got)
	}
}

func TestMirrorServesBothRegistries(t *testing.T) {
	t.Parallel()
	dir, binary := t.TempDir(), filepath.Join(t.TempDir(), "provider")
	if err := os.WriteFile(binary, []byte("x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := mirror(dir, map[string]string{"simcloud": binary, "five": binary}); err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		for _, name := range []string{"simcloud", "five"} {
			file := filepath.Join(dir, host, "tfweaver", name, ProviderVersion, runtime.GOOS+"_"+runtime.GOARCH, executable("terraform-provider-"+name+"_v"+ProviderVersion))
			if text, err := os.ReadFile(file); err != nil || string(text) != "x" {
				t.Errorf("%s: %q, %v", host, text, err)
			}
		}
	}
}

func TestAwait(t *testing.T) {
	t.Parallel()
	n := 0
	if err := Await(t.Context(), "three looks", func() (bool, error) { n++; return n == 3, nil }); err != nil || n != 3 {
		t.Errorf("after %d looks: %v", n, err)
	}
	broken := errors.New("broken")
	if err := Await(t.Context(), "x", func() (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("the condition's error is lost: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := Await(ctx, "the impossible", func() (bool, error) { return false, nil }); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "the impossible") {
		t.Errorf("endless waiting: %v", err)
	}
}

func TestWroteKnowsTypeNameAndStatus(t *testing.T) {
	t.Parallel()
	log := activity.Log{Operations: []activity.Operation{
		{ObjectType: "Microsoft.Network/virtualNetworks/subnets", ObjectID: "/x/subnets/App", Result: activity.Canceled},
	}}
	for want, holds := range map[bool][]bool{
		true:  {Wrote("subnets", "app", activity.Accepted)(log), Wrote("subnets", "app", activity.Canceled)(log)},
		false: {Wrote("subnets", "app", activity.Succeeded)(log), Wrote("subnets", "web", activity.Accepted)(log), Wrote("virtualNetworks", "app", activity.Accepted)(log)},
	} {
		for n, got := range holds {
			if got != want {
				t.Errorf("condition %d of those that are %v is %v", n, want, got)
			}
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	t.Parallel()
	if got := tail("a\nb\nc\n", 2); got != "(1 lines left out)\nb\nc" {
		t.Errorf("tail is %q", got)
	}
}
