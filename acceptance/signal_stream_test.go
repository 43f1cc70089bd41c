// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package acceptance

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// awaitFile waits until a run has made a file in its workspace.
func (b *bench) awaitFile(run *lab.Run, w *lab.Workspace, name string) {
	b.t.Helper()
	err := lab.Await(b.ctx, run.Name+" has made "+name, func() (bool, error) {
		_, err := os.Stat(filepath.Join(w.Dir, name))
		if err != nil && run.Exited() {
			return false, errors.New("it has ended: " + run.Said())
		}
		return err == nil, nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// shell runs a script to its end in which "$CLI" is the plain CLI, or tfweaver.
func (b *bench) shell(w *lab.Workspace, tfweaver bool, script string) *lab.Run {
	b.t.Helper()
	r, err := w.StartScript(b.ctx, tfweaver, script)
	if err != nil {
		b.t.Fatal(err)
	}
	b.wait(r)
	return r
}

var statusLine = regexp.MustCompile(`(?m)^status=(\d+)`)

// statusIn is what a script has printed as a status.
func (b *bench) statusIn(run *lab.Run) string {
	b.t.Helper()
	found := statusLine.FindStringSubmatch(strings.ReplaceAll(run.Said(), "\r", ""))
	if found == nil {
		b.t.Fatalf("%s has printed no status", run.Name)
	}
	return found[1]
}

// status is what a script has noted in a workspace.
func (b *bench) status(w *lab.Workspace) string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.Dir, "status"))
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// killAll ends all processes of the experiment.
func (b *bench) killAll() {
	b.t.Helper()
	all, err := b.Processes()
	for _, p := range all {
		err = errors.Join(err, p.Kill())
	}
	if err != nil {
		b.t.Error(err)
	}
}

// TestSignalNobodyReads: a reader that goes away, or that was never there, ends the
// command with the status that a shell sees of plain Terraform; nothing is held
// after that.
func TestSignalNobodyReads(t *testing.T) {
	t.Parallel()
	const status = `echo "status=${PIPESTATUS[0]}" >status`
	for name, script := range map[string]string{
		"plan, nobody":         `$CLI plan -no-color | true; ` + status,
		"plan, JSON, nobody":   `$CLI plan -json | true; ` + status,
		"apply, one line":      `$CLI apply -auto-approve -no-color | head -1; ` + status,
		"apply, both streams":  `$CLI apply -auto-approve -no-color 2>&1 | head -1; ` + status,
		"apply, JSON":          `$CLI apply -auto-approve -json | head -1; ` + status,
		"apply, no stdout":     `$CLI apply -auto-approve -no-color >&-; echo "status=$?" >status`,
		"apply, no stderr":     `$CLI apply -auto-approve -no-color 2>&-; echo "status=$?" >status`,
		"apply, no stdin":      `$CLI apply -auto-approve -no-color <&-; echo "status=$?" >status`,
		"apply, nobody to ask": `$CLI apply -no-color <&-; echo "status=$?" >status`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := inTheWay(t, 300*time.Millisecond)
			// Enough for some of it to be printed after the reader has gone.
			natural := b.workspace("natural", chain("left", "n1", "n2"))
			woven := b.workspace("woven", chain("right", "w1", "w2"))
			b.shell(natural, false, script)
			want := b.status(natural)
			b.killAll() // the providers of a CLI that died of a broken pipe
			b.shell(woven, true, script)
			got := b.status(woven)
			if got != want {
				t.Errorf("status %s, want %s", got, want)
			}
			b.noProcesses()
			b.noFolders()
			s, err := b.Status(b.ctx)
			if err != nil || len(s.Sessions)+len(s.Locks)+len(s.Transactions) != 0 {
				t.Errorf("left is %+v, %v", s, err)
			}
			b.usable(woven)
		})
	}
}
