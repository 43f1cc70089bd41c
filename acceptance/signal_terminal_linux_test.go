// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// terminal runs a script in a terminal of its own.
func (b *bench) terminal(w *lab.Workspace, tfweaver bool, script string, shell ...string) *lab.Terminal {
	b.t.Helper()
	r, err := w.StartInTerminal(b.ctx, tfweaver, script, shell...)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) types(terminal *lab.Terminal, keys string) {
	b.t.Helper()
	if err := terminal.Type(keys); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) silent(terminal *lab.Terminal) {
	b.t.Helper()
	if err := terminal.WaitSilent(); err != nil {
		b.t.Fatal(err)
	}
}

// atPrompt and inScript are how tfweaver can stand to a terminal: as a job of its
// own, and as a part of a script that has the terminal.
func atPrompt() []string { return []string{"bash", "--norc", "-m", "-c"} }
func inScript() []string { return []string{"bash", "--norc", "-c"} }

// TestSignalCtrlC: the terminal's interrupt reaches the CLI exactly once, whoever
// owns the terminal, and the shell goes on with the exit status of plain Terraform.
func TestSignalCtrlC(t *testing.T) {
	t.Parallel()
	const apply = `$CLI apply -auto-approve -no-color; echo "status=$?"`
	for name, c := range map[string]struct {
		woven  bool
		script string
		shell  []string
	}{
		"terraform at a prompt":         {false, apply, atPrompt()},
		"tfweaver at a prompt":          {true, apply, atPrompt()},
		"terraform in a script":         {false, apply, inScript()},
		"tfweaver in a script":          {true, apply, inScript()},
		"tfweaver, answers from a pipe": {true, `(trap "" INT; exec sleep 8) | ` + apply, atPrompt()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := inTheWay(t, 2*time.Second)
			w := b.workspace("alone", chain("left", "first", "second"))
			run := b.terminal(w, c.woven, c.script, c.shell...)
			b.awaitOf(run.Run, "the first subnet is being written", lab.Wrote("subnets", "first", activity.Accepted))
			b.types(run, lab.CtrlC)
			b.silent(run)
			if n := strings.Count(run.Said(), "Interrupt received"); n != 1 {
				t.Errorf("the CLI got %d interrupts", n)
			}
			if got := b.statusIn(run.Run); got != "1" {
				t.Errorf("status %s, want 1", got)
			}
			if lab.Wrote("subnets", "second", activity.Accepted)(b.log()) || stateLocked(w) {
				t.Errorf("the run went on, or the state is locked: %v", stateLocked(w))
			}
			b.noProcesses()
			b.released("the interrupt", w)
		})
	}
}

// TestSignalCtrlCTwice: the second one ends the CLI at once.
func TestSignalCtrlCTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{})
	hold := filepath.Join(t.TempDir(), "hold")
	w := b.workspaceOf(b.FixtureWorkspace(b.ctx, "alone", stubborn("first", hold)))
	run := b.terminal(w, true, `$CLI apply -auto-approve -no-color; echo "status=$?"`)
	b.awaitOf(run.Run, "the first thing is being made", func(activity.Log) bool { return b.began("first") })
	b.types(run, lab.CtrlC)
	b.awaitSaid(run.Run, "Interrupt received")
	b.types(run, lab.CtrlC)
	b.awaitSaid(run.Run, "Two interrupts received")
	if err := os.WriteFile(hold, nil, 0o600); err != nil { // which tfweaver still waits for
		t.Fatal(err)
	}
	b.silent(run)
	if got := b.statusIn(run.Run); got != "1" {
		t.Errorf("status %s, want 1", got)
	}
	b.noProcesses()
	b.nothingLeft("the interrupts", w)
}

// TestSignalCtrlZ: a run that is stopped is stopped as a whole, the shell has the
// terminal meanwhile and after it, and a run that is continued goes on.
func TestSignalCtrlZ(t *testing.T) {
	t.Parallel()
	const stopped = `; stopped=$?; test $stopped = 148 || test $stopped = 147 && touch stopped; sleep 1; `
	for name, script := range map[string]string{
		"foreground":   `$CLI apply -auto-approve -no-color` + stopped + `fg; echo "status=$?"`,
		"background":   `$CLI apply -auto-approve -no-color >said` + stopped + `bg; wait %1; echo "status=$?"; read -r -t 60 line; echo "read=$line"`,
		"no terminal":  `sleep 6 | $CLI apply -auto-approve -no-color` + stopped + `fg; echo "status=$?"`,
		"no terminal2": `$CLI apply -auto-approve -no-color </dev/null` + stopped + `fg; echo "status=$?"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := inTheWay(t, 2*time.Second)
			w := b.workspace("alone", subnet("left", "first", 1))
			run := b.terminal(w, true, script)
			b.awaitOf(run.Run, "the subnet is being written", lab.Wrote("subnets", "first", activity.Accepted))
			b.types(run, lab.CtrlZ)
			b.awaitFile(run.Run, w, "stopped")
			if name == "background" {
				b.awaitSaid(run.Run, "status=")
				b.types(run, "hello\n")
			}
			b.silent(run)
			if got := b.statusIn(run.Run); got != "0" {
				t.Errorf("status %s, want 0", got)
			}
			if name == "background" && !strings.Contains(run.Said(), "read=hello") {
				t.Error("the shell has lost its terminal")
			}
			b.clean()
			b.nothingLeft("the end", w)
			b.unchanged(w)
		})
	}
}

// TestSignalClosedTerminal: whoever closes the terminal ends the run in order,
// whether the shell tells its jobs or dies without a word.
func TestSignalClosedTerminal(t *testing.T) {
	t.Parallel()
	for name, shell := range map[string][]string{
		"bash at a prompt": atPrompt(), "bash in a script": inScript(), "sh at a prompt": {"sh", "-m", "-c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := inTheWay(t, 2*time.Second)
			w := b.workspace("alone", chain("left", "first", "second"))
			run := b.terminal(w, true, `$CLI apply -auto-approve -no-color; echo "status=$?"`, shell...)
			b.awaitOf(run.Run, "the first subnet is being written", lab.Wrote("subnets", "first", activity.Accepted))
			if err := run.HangUp(); err != nil {
				t.Fatal(err)
			}
			b.wait(run.Run)
			b.noProcesses()
			if stateLocked(w) {
				t.Error("the state is locked")
			}
			if lab.Wrote("subnets", "second", activity.Accepted)(b.log()) {
				t.Error("the run went on")
			}
			b.released("the hangup", w)
			b.noFolders()
		})
	}
}
