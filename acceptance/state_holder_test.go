// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"encoding/json"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// ourselves is how the CLI names whoever runs it.
func ourselves(t *testing.T) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username + "@" + host
}

// TestC16TheHolderIsNamed: alice holds the state behind HTTP. The CLI of Terraform
// shows the data of whoever asks, as if they held it; tfweaver names alice, what
// for, and where (terraform issues 34732, 37233 and 32075).
func TestC16TheHolderIsNamed(t *testing.T) {
	t.Parallel()
	s := store(t, map[string]string{"bob": bobsPassword})
	b := newBench(t, lab.Setup{Cloud: fast()})
	if err := s.Plant("net", alicesLock); err != nil {
		t.Fatal(err)
	}
	w := b.on(s, "net", "bob", group())
	control := b.terraform(w, 1, "plan", "-no-color").Said()
	if shown := strings.Contains(control, alicesIntent); shown != (b.Lab.CLI.Product == "OpenTofu") {
		t.Errorf("the control: %s shows what alice is up to: %v\n%s", b.Lab.CLI, shown, control)
	}
	for name, args := range map[string][]string{
		"plan": {"plan"}, "apply": {"apply", "-auto-approve"}, "destroy": {"destroy", "-auto-approve"}, "refresh": {"refresh"},
		"import": {"import", "simcloud_resource_group.shared", "x"}, "apply of JSON lines": {"apply", "-auto-approve", "-json"},
	} {
		if !strings.HasSuffix(name, "lines") {
			args = append(args, "-no-color")
		}
		run := b.tfweaver(w, 1, args...)
		says(t, name, run.Said(), `alice`, alicesIntent, alicesRun)
		if n, most := strings.Count(run.Said(), ourselves(t)), strings.Count(control, ourselves(t)); n > most {
			t.Errorf("%s names us as the holder %d times, the CLI alone %d times:\n%s", name, n, most, run.Said())
		}
		if strings.Contains(run.Said(), bobsPassword) {
			t.Errorf("%s tells the password", name)
		}
		if s.Holder("net") != alicesLock {
			t.Fatalf("after %s the lock is that of %q", name, s.Holder("net"))
		}
		b.nothingLeft(name)
	}
	if n := b.log().Succeeded(); n != 0 {
		t.Errorf("%d operations succeeded in a state that alice holds", n)
	}
}

// TestC16TheLocalHolderIsNamed: a plain CLI is in the middle of an apply in the
// same folder.
func TestC16TheLocalHolderIsNamed(t *testing.T) {
	t.Parallel()
	setup := lab.Setup{Cloud: fast()}
	setup.Cloud.Latencies["resource_group"] = 8 * time.Second
	b := newBench(t, setup)
	w := b.workspace("bob", group())
	holder := b.start(plain, w, "apply", "-auto-approve", "-no-color")
	b.awaitOf(holder, "the group is being made", lab.Wrote("resourceGroups", "shared", activity.Accepted))
	text, err := os.ReadFile(filepath.Join(w.Dir, ".terraform.tfstate.lock.info"))
	if err != nil {
		t.Fatal(err)
	}
	var lock struct{ ID, Who string }
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	run := b.tfweaver(w, 1, "apply", "-auto-approve", "-no-color")
	control := b.terraform(w, 1, "apply", "-auto-approve", "-no-color")
	if holder.Exited() {
		t.Fatal("the holder has ended too early for this test")
	}
	says(t, "tfweaver", run.Said(), lock.ID)
	if own, alone := strings.Count(run.Said(), lock.Who), strings.Count(control.Said(), lock.Who); own <= alone {
		t.Errorf("tfweaver does not name the holder %s itself: %d times, the CLI alone %d times\n%s", lock.Who, own, alone, run.Said())
	}
	b.wait(holder)
	b.succeeded(holder)
	b.nothingLeft("both", w)
	b.unchanged(w)
}
