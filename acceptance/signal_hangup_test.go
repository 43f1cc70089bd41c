// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package acceptance

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// TestSignalHangupInFlight: plain Terraform dies of a hangup, with its state
// locked and without what was being made; tfweaver has it stop instead.
func TestSignalHangupInFlight(t *testing.T) {
	t.Parallel()
	b := inTheWay(t, 2*time.Second)
	w := b.workspace("alone", chain("left", "first", "second"))
	run := b.start(woven, w, "apply", "-auto-approve", "-no-color")
	b.awaitOf(run, "the first subnet is being written", lab.Wrote("subnets", "first", activity.Accepted))
	b.signal(run, syscall.SIGHUP)
	b.wait(run)
	if run.Status() != 1 || strings.Count(run.Stdout(), "Interrupt received") != 1 {
		t.Errorf("exit status %d, want 1 after one interrupt", run.Status())
	}
	b.released("the hangup", w)

	control := b.workspace("control", chain("right", "c1", "c2"))
	plainly := b.start(plain, control, "apply", "-auto-approve", "-no-color")
	b.awaitOf(plainly, "the control's subnet is being written", lab.Wrote("subnets", "c1", activity.Accepted))
	b.signal(plainly, syscall.SIGHUP)
	b.wait(plainly)
	if plainly.Status() != 129 || !stateLocked(control) {
		t.Errorf("plain Terraform: exit status %d, the state is locked: %v", plainly.Status(), stateLocked(control))
	}
}

// TestSignalNohup: what nohup has made deaf for hangups stays so.
func TestSignalNohup(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"nohup":  "nohup $CLI apply -auto-approve -no-color >out 2>&1",
		"setsid": "trap '' HUP; setsid -w $CLI apply -auto-approve -no-color >out 2>&1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := inTheWay(t, 2*time.Second)
			w := b.workspace("alone", subnet("left", "first", 1))
			run, err := w.StartScript(b.ctx, true, script)
			if err != nil {
				t.Fatal(err)
			}
			b.awaitOf(run, "the subnet is being written", lab.Wrote("subnets", "first", activity.Accepted))
			b.signalProgram(run, "tfweaver", syscall.SIGHUP)
			b.wait(run)
			if run.Status() != 0 {
				t.Errorf("exit status %d, want 0", run.Status())
			}
			b.clean()
			b.nothingLeft("the end", w)
			b.unchanged(w)
		})
	}
}

// grandchild says whether somebody between a process and the run has the process.
func grandchild(all []lab.Process, p lab.Process, run int) bool {
	for _, below := range lab.Below(all, run) {
		if below.PID == p.Parent {
			return true
		}
	}
	return false
}

// signalProgram sends a signal to the first process of a program that a script
// has started.
func (b *bench) signalProgram(run *lab.Run, program string, sig syscall.Signal) {
	b.t.Helper()
	all, err := b.Processes()
	if err != nil {
		b.t.Fatal(err)
	}
	sent := 0
	for _, p := range all {
		if p.Program != program || p.PID != run.PID() && p.Parent != run.PID() && !grandchild(all, p, run.PID()) {
			continue
		}
		if err := syscall.Kill(p.PID, sig); err != nil {
			b.t.Fatal(err)
		}
		sent++
		break
	}
	if sent == 0 {
		b.t.Fatalf("%s has no process of %s", run.Name, program)
	}
}

// TestSignalInTheBackground: a shell without job control starts what is in the
// background deaf for interrupts. Terraform takes them all the same, and so does
// tfweaver.
func TestSignalInTheBackground(t *testing.T) {
	t.Parallel()
	for name, woven := range map[string]bool{"terraform": false, "tfweaver": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := inTheWay(t, 2*time.Second)
			w := b.workspace("alone", chain("left", "first", "second"))
			run, err := w.StartScript(b.ctx, woven, `$CLI apply -auto-approve -no-color & echo $! >pid; wait $!; echo "status=$?"`)
			if err != nil {
				t.Fatal(err)
			}
			b.awaitOf(run, "the first subnet is being written", lab.Wrote("subnets", "first", activity.Accepted))
			b.signalProgram(run, name, syscall.SIGINT)
			b.wait(run)
			if got := b.statusIn(run); got != "1" || strings.Count(run.Said(), "Interrupt received") != 1 {
				t.Errorf("status %s, want 1 after one interrupt", got)
			}
			b.released("the interrupt", w)
		})
	}
}
