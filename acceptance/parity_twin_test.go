// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// parityPatience bounds a table of command lines, which has many.
const parityPatience = 10 * time.Minute

// twins are two equal workspaces, each with a cloud of its own: what plain
// Terraform does in one, tfweaver does in the other, and all that is seen of it
// is compared.
type twins struct {
	t           *testing.T
	ctx         context.Context
	plain, mine *twin
}

// twin is one of them.
type twin struct {
	*lab.Workspace
	bench *bench
	// program is what a command line is given to.
	program string
}

// newTwins makes them, with the same configuration, initialised.
func newTwins(t *testing.T, setup lab.Setup, hcl string) *twins {
	t.Helper()
	return twinsOf(t, setup, func(b *bench) *lab.Workspace { return b.workspace("alone", hcl) })
}

// newMixedTwins use providers of both protocols, those of a pack and those that no
// rule knows.
func newMixedTwins(t *testing.T, setup lab.Setup, hcl string) *twins {
	t.Helper()
	return twinsOf(t, setup, func(b *bench) *lab.Workspace { return b.workspaceOf(b.FixtureWorkspace(b.ctx, "alone", hcl)) })
}

// newBareTwins are not initialised, and have exactly the given configuration.
func newBareTwins(t *testing.T, setup lab.Setup, hcl string) *twins {
	t.Helper()
	return twinsOf(t, setup, func(b *bench) *lab.Workspace { return b.workspaceOf(b.Uninitialised("alone", hcl)) })
}

func twinsOf(t *testing.T, setup lab.Setup, makeIn func(*bench) *lab.Workspace) *twins {
	t.Helper()
	folder := t.TempDir()
	one := func(name, program string) *twin {
		b := newPatientBench(t, setup, parityPatience)
		w := makeIn(b)
		// Paths of one length are wrapped alike in what people read.
		dir := filepath.Join(folder, name)
		if err := os.Rename(w.Dir, dir); err != nil {
			t.Fatal(err)
		}
		w.Dir = dir
		return &twin{Workspace: w, bench: b, program: program}
	}
	p := &twins{t: t, plain: one("one", shared.CLI.Path), mine: one("two", shared.Tfweaver)}
	p.ctx = p.plain.bench.ctx
	return p
}

// both does something with each of them.
func (p *twins) both(do func(*twin) error) {
	p.t.Helper()
	for _, w := range []*twin{p.plain, p.mine} {
		if err := do(w); err != nil {
			p.t.Fatal(err)
		}
	}
}

// write puts a file into both.
func (p *twins) write(name, text string) {
	p.t.Helper()
	p.both(func(w *twin) error {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(w.Dir, name)), 0o700); err != nil {
			return err
		}
		return w.Write(name, text)
	})
}

// configure replaces the configuration of both.
func (p *twins) configure(hcl string) { p.t.Helper(); p.write("main.tf", lab.Preamble+"\n"+hcl) }

// line is one command line and what is expected of it.
type line struct {
	args []string
	// code is the exit code that both must have.
	code int
	// input is the standard input; none means the null device.
	input string
	// env is added to the environment.
	env []string
	// own says that tfweaver adds lines of its own to what it writes.
	own bool
	// help says that tfweaver adds a section to the CLI's help.
	help bool
	// warns says that the plan and what follows both have warnings, which come at
	// other places than natively.
	warns bool
	// says is a text that plain Terraform must write, so that the comparison is
	// about what it is meant to be about.
	says string
	// change may alter the process that is to be started.
	change func(w *twin, cmd *exec.Cmd)
}

// cli is a line without conditions.
func cli(args ...string) line { return line{args: args} }

func (l line) exits(code int) line { l.code = code; return l }
func (l line) with(env ...string) line {
	l.env = append(l.env[:len(l.env):len(l.env)], env...)
	return l
}
func (l line) reading(input string) line        { l.input = input; return l }
func (l line) saying(text string) line          { l.says = text; return l }
func (l line) helped() line                     { l.help = true; return l }
func (l line) warning() line                    { l.warns = true; return l }
func (l line) coordinated() line                { l.own = true; return l }
func (l line) as(f func(*twin, *exec.Cmd)) line { l.change = f; return l }

// outcome is what is seen of a run from outside.
type outcome struct {
	Code           int
	Stdout, Stderr string
}

// same runs command lines with both, one after another, and fails the test where
// what is seen of a run differs.
func (p *twins) same(lines ...line) {
	p.t.Helper()
	for _, l := range lines {
		want, got := p.run(l)
		name := strings.Join(l.args, " ")
		if l.help {
			if !strings.Contains(got.Stderr, addedHelp) {
				p.t.Errorf("%s: tfweaver does not add its options to the help", name)
			}
			got.Stderr = withoutHelp(got.Stderr)
		}
		if runsProviders(l.args) {
			got.Stdout, got.Stderr = withoutProgress(got.Stdout), withoutProgress(got.Stderr)
		}
		if l.warns {
			want.Stdout, got.Stdout = warned(want.Stdout), warned(got.Stdout)
		}
		if diff := difference(want, got, l.own); diff != "" {
			p.t.Errorf("%s: terraform (-) and tfweaver (+) differ:\n%s", name, diff)
		}
		if want.Code != l.code {
			p.t.Errorf("%s: exit code %d, want %d\n%s%s", name, want.Code, l.code, want.Stdout, want.Stderr)
		}
		if !strings.Contains(want.Stdout+want.Stderr, l.says) {
			p.t.Errorf("%s: terraform does not say %q:\n%s%s", name, l.says, want.Stdout, want.Stderr)
		}
		if p.t.Failed() {
			return // the two are no twins any more
		}
	}
}

// run runs a line with both at once and returns what is left to compare.
func (p *twins) run(l line) (plain, mine outcome) {
	p.t.Helper()
	var group sync.WaitGroup
	var errs [2]error
	for n, w := range []*twin{p.plain, p.mine} {
		group.Go(func() {
			var got outcome
			got, errs[n] = w.run(p.ctx, l)
			if n == 0 {
				plain = p.normal(w, got)
			} else {
				mine = p.normal(w, got)
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		p.t.Fatal(err)
	}
	return plain, mine
}

// run runs the line's command and waits for it.
func (w *twin) run(ctx context.Context, l line) (outcome, error) {
	var stdout, stderr bytes.Buffer
	cmd := w.Command(ctx, w.program, l.args...)
	cmd.Env = append(cmd.Env, l.env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if l.input != "" {
		cmd.Stdin = strings.NewReader(l.input)
	}
	if l.change != nil {
		l.change(w, cmd)
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return outcome{}, err
	}
	return outcome{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}, nil
}

// difference is empty where two outcomes are the same, and says otherwise what
// is not. own says that tfweaver, the second, adds documented lines.
func difference(want, got outcome, own bool) string {
	if own {
		got.Stdout, got.Stderr = withoutOwnJSON(got.Stdout), withoutOwn(got.Stderr)
	}
	return cmp.Diff(want, got)
}
