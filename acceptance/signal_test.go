// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package acceptance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/fixture/journal"
	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// inTheWay is a cloud in which one subnet after another is written for a while,
// and a network that others have made.
func inTheWay(t *testing.T, subnets time.Duration) *bench {
	t.Helper()
	cloud := fast()
	cloud.Latencies["subnet"] = subnets
	b := newBench(t, lab.Setup{Cloud: cloud})
	twoNetworks(b)
	return b
}

// signal sends a signal to a run, and to nothing that it has started.
func (b *bench) signal(run *lab.Run, sig syscall.Signal) {
	b.t.Helper()
	if err := run.Signal(sig); err != nil {
		b.t.Fatal(err)
	}
}

// awaitSaid waits until a run has said something.
func (b *bench) awaitSaid(run *lab.Run, what string) {
	b.t.Helper()
	err := lab.Await(b.ctx, run.Name+" says "+what, func() (bool, error) {
		if !strings.Contains(run.Said(), what) && run.Exited() {
			return false, errors.New("it has ended: " + run.Said())
		}
		return strings.Contains(run.Said(), what), nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// released fails the test unless nobody holds or waits for anything any more, and
// plain Terraform can go on with the workspace until there is nothing to do.
func (b *bench) released(after string, w *lab.Workspace) {
	b.t.Helper()
	b.nothingLeft(after, w)
	b.usable(w)
}

// usable fails the test unless plain Terraform can go on with a workspace. The
// provider stops waiting for the cloud when it is told to; what the cloud has made
// after that is in no state, with plain Terraform as with tfweaver, and is deleted.
func (b *bench) usable(w *lab.Workspace) {
	b.t.Helper()
	if _, err := w.Tidy(b.ctx); err != nil {
		b.t.Fatal(err)
	}
	b.terraform(w, 0, "apply", "-auto-approve", "-no-color")
	b.unchanged(w)
}

// processes fails the test unless all processes but the coordinator end.
func (b *bench) noProcesses() {
	b.t.Helper()
	var left []lab.Process
	err := lab.Await(b.ctx, "the processes have gone", func() (bool, error) {
		all, err := b.Processes()
		if err != nil {
			return false, err
		}
		serving, err := b.CoordinatorPID()
		left = left[:0]
		for _, p := range all {
			if p.PID != serving {
				left = append(left, p)
			}
		}
		return len(left) == 0, err
	})
	if err != nil {
		b.t.Fatalf("%v: %+v", err, left)
	}
}

// noFolders fails the test if a private folder of a run is left.
func (b *bench) noFolders() {
	b.t.Helper()
	found, err := filepath.Glob(filepath.Join(b.TempDir(), "tfweaver-run-*"))
	if err != nil || len(found) > 0 {
		b.t.Errorf("left are %v, %v", found, err)
	}
}

// stateLocked says whether the state of a workspace looks locked.
func stateLocked(w *lab.Workspace) bool {
	_, err := os.Stat(filepath.Join(w.Dir, ".terraform.tfstate.lock.info"))
	return !errors.Is(err, fs.ErrNotExist)
}

// handled is HandleTerraform or HandleTfweaver of a workspace.
type handler func(w *lab.Workspace, ctx context.Context, args ...string) (*lab.Handled, error)

func plainHandled(w *lab.Workspace, ctx context.Context, args ...string) (*lab.Handled, error) {
	return w.HandleTerraform(ctx, args...)
}

func wovenHandled(w *lab.Workspace, ctx context.Context, args ...string) (*lab.Handled, error) {
	return w.HandleTfweaver(ctx, args...)
}

// bothWays are plain Terraform and tfweaver, by name.
func bothWays() map[string]handler {
	return map[string]handler{"terraform": plainHandled, "tfweaver": wovenHandled}
}

// handle starts a run whose streams are in hand.
func (b *bench) handle(start handler, w *lab.Workspace, args ...string) *lab.Handled {
	b.t.Helper()
	r, err := start(w, b.ctx, args...)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// TestSignalWhileWaiting: whoever is told to end while waiting for somebody gives
// the place in the queue up at once, long before the one in front has ended.
func TestSignalWhileWaiting(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"interrupt": syscall.SIGINT, "terminate": syscall.SIGTERM, "hangup": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, busy())
			alice, bob := busyNetwork(b)
			waiter := b.start(woven, bob, "apply", "-auto-approve", "-no-color")
			b.firstWaiting()
			b.signal(waiter, sig)
			b.wait(waiter)
			if alice.Exited() {
				t.Fatal("alice has ended before the waiter did: nothing is shown")
			}
			s, err := b.Status(b.ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, tx := range s.Transactions {
				if tx.Actor == "bob" {
					t.Errorf("bob still has %+v", tx)
				}
			}
			if waiter.Status() != 1 {
				t.Errorf("exit status %d, want 1", waiter.Status())
			}
			if n := strings.Count(waiter.Stdout(), "Interrupt received"); n != 1 {
				t.Errorf("the CLI got %d interrupts", n)
			}
			says(t, "bob's run", waiter.Stderr(), `simcloud_subnet\.b`, "Coordinated")
			b.wait(alice)
			b.succeeded(alice)
			if lab.Wrote("subnets", "b", activity.Accepted)(b.log()) {
				t.Error("bob's subnet was written")
			}
			b.released("the end", bob)
		})
	}
}

// TestSignalInFlight: the provider is told to stop waiting for a call that was
// sent, by the plain CLI as by tfweaver, with the same exit status. What comes after
// it is not sent, and nothing is left locked.
func TestSignalInFlight(t *testing.T) {
	t.Parallel()
	for name, start := range bothWays() {
		for sort, sig := range map[string]syscall.Signal{"interrupt": syscall.SIGINT, "terminate": syscall.SIGTERM} {
			t.Run(name+" "+sort, func(t *testing.T) {
				t.Parallel()
				b := inTheWay(t, 2*time.Second)
				w := b.workspace("alone", chain("left", "first", "second"))
				run := b.handle(start, w, "apply", "-auto-approve", "-no-color")
				b.awaitOf(run.Run, "the first subnet is being written", lab.Wrote("subnets", "first", activity.Accepted))
				b.signal(run.Run, sig)
				b.wait(run.Run)
				if run.Status() != 1 || strings.Count(run.Said(), "Interrupt received") != 1 {
					t.Errorf("exit status %d, want 1 after one interrupt", run.Status())
				}
				if lab.Wrote("subnets", "second", activity.Accepted)(b.log()) {
					t.Error("the second subnet was sent after the interrupt")
				}
				if stateLocked(w) {
					t.Error("the state is locked")
				}
				b.released("the interrupt", w)
				b.clean()
			})
		}
	}
}

// TestSignalTwiceInFlight: with the second interrupt the CLI exits at once;
// tfweaver waits for the call that was sent, so that others learn of its end, until
// it is interrupted once more. The provider does not stop when it is asked to, so
// that the call lasts as long as the test wants it to.
func TestSignalTwiceInFlight(t *testing.T) {
	t.Parallel()
	for name, third := range map[string]bool{"twice": false, "three times": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, lab.Setup{})
			hold := filepath.Join(t.TempDir(), "hold")
			w := b.workspaceOf(b.FixtureWorkspace(b.ctx, "alone", stubborn("first", hold)))
			run := b.start(woven, w, "apply", "-auto-approve", "-no-color", "-weaver-lease="+lease.String())
			b.awaitOf(run, "the first thing is being made", func(activity.Log) bool { return b.began("first") })
			b.signal(run, syscall.SIGINT)
			b.awaitSaid(run, "Interrupt received")
			b.signal(run, syscall.SIGINT)
			b.awaitSaid(run, "Two interrupts received")
			b.gone(run, "terraform")
			if run.Exited() || b.ended("first") {
				t.Fatalf("tfweaver has ended (%v) or the call has (%v): nothing is shown", run.Exited(), b.ended("first"))
			}
			if third {
				b.signal(run, syscall.SIGINT)
			} else if err := os.WriteFile(hold, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			b.wait(run)
			if ended := b.ended("first"); ended == third {
				t.Errorf("the call has ended when tfweaver has: %v", ended)
			}
			if run.Status() != 1 {
				t.Errorf("exit status %d, want 1", run.Status())
			}
			b.noProcesses()
			b.noFolders()
			if third { // somebody else will find out how the call ends
				return
			}
			rival := leased(b, b.workspaceOf(b.FixtureWorkspace(b.ctx, "rival", stubborn("other", hold))), "make another thing")
			b.wait(rival)
			b.succeeded(rival)
			b.nothingLeft("two interrupts", w)
		})
	}
}

// stubborn is the configuration of a thing that is made when a file is there, and
// not given up before.
func stubborn(name, hold string) string {
	return fmt.Sprintf("resource \"five_thing\" %q {\n  name  = %q\n  hold  = %q\n  fault = \"stubborn\"\n}\n", name, name, hold)
}

// began says whether the fixture has begun to create a thing, ended whether that
// has ended.
func (b *bench) began(name string) bool { return b.noted(journal.Create, name) }

func (b *bench) ended(name string) bool { return b.noted(journal.End, name) }

func (b *bench) noted(what, name string) bool {
	b.t.Helper()
	events, err := b.FixtureJournal()
	if err != nil {
		b.t.Fatal(err)
	}
	return slices.ContainsFunc(events, func(e lab.FixtureEvent) bool { return e.What == what && e.Name == name })
}

// gone waits until the CLI below a run has ended.
func (b *bench) gone(run *lab.Run, program string) {
	b.t.Helper()
	err := lab.Await(b.ctx, program+" below "+run.Name+" has ended", func() (bool, error) {
		all, err := b.Processes()
		for _, p := range lab.Below(all, run.PID()) {
			if p.Program == program {
				return false, err
			}
		}
		return true, err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestSignalAtThePrompt: a question that nobody answers any more ends the run, as
// with plain Terraform.
func TestSignalAtThePrompt(t *testing.T) {
	t.Parallel()
	for name, start := range bothWays() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := inTheWay(t, time.Second)
			w := b.workspace("alone", subnet("left", "first", 1))
			for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
				run := b.handle(start, w, "apply", "-no-color")
				if err := run.AwaitPrompt(b.ctx); err != nil {
					t.Fatal(err)
				}
				b.signal(run.Run, sig)
				b.wait(run.Run)
				if run.Status() != 1 || !strings.Contains(run.Said(), "error asking for approval") {
					t.Errorf("%v: exit status %d, want 1 and a word about the approval", sig, run.Status())
				}
				if stateLocked(w) {
					t.Errorf("%v: the state is locked", sig)
				}
			}
			if len(b.clean().Operations) != 3 {
				t.Error("something was sent that nobody approved")
			}
			b.released("the interrupts", w)
		})
	}
}
