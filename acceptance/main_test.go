// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// shared is opened once for all tests of the package: compiling takes longer
// than most of them.
var shared *lab.Lab //nolint:gochecknoglobals // set by TestMain before any test

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	l, err := lab.Open(context.Background(), func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance tests:", err)
		return 1
	}
	shared = l
	code := m.Run()
	if err := l.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "acceptance tests:", err)
		return 1
	}
	return code
}

// patience bounds a single test: nothing here takes a minute on an idle machine.
const patience = 4 * time.Minute

// bench is an experiment with helpers that fail the test.
type bench struct {
	*lab.Experiment
	t   *testing.T
	ctx context.Context
}

// newBench sets up an experiment for a test. When the test fails it shows all
// that the runs said and the cloud logged.
func newBench(t *testing.T, setup lab.Setup) *bench {
	t.Helper()
	return newPatientBench(t, setup, patience)
}

// newPatientBench is newBench for a test that may take longer than others.
func newPatientBench(t *testing.T, setup lab.Setup, patience time.Duration) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	e, err := shared.Experiment(ctx, setup)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(e.Report())
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return &bench{Experiment: e, t: t, ctx: ctx}
}

// within is the bench of a parallel subtest: its time begins when it does, not
// while it waits for its turn.
func (b *bench) within(t *testing.T) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return &bench{Experiment: b.Experiment, t: t, ctx: ctx}
}

// fast are latencies for tests that are not about time: long enough that runs
// started together overlap in the cloud.
func fast() lab.CloudConfig {
	return lab.CloudConfig{Latencies: map[string]time.Duration{
		"resource_group": 100 * time.Millisecond, "virtual_network": 300 * time.Millisecond, "subnet": time.Second,
		"network_interface": 300 * time.Millisecond, "network_security_group": 300 * time.Millisecond,
		"network_security_rule": 500 * time.Millisecond, "public_ip": 100 * time.Millisecond,
	}}
}

// workspace makes and initialises a workspace.
func (b *bench) workspace(actor, hcl string) *lab.Workspace {
	b.t.Helper()
	return b.workspaceOf(b.Workspace(b.ctx, actor, hcl))
}

func (b *bench) workspaceOf(w *lab.Workspace, err error) *lab.Workspace {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

// terraform runs the plain CLI to its end and expects an exit code.
func (b *bench) terraform(w *lab.Workspace, code int, args ...string) *lab.Run {
	b.t.Helper()
	return b.exited(code)(w.Terraform(b.ctx, args...))
}

// tfweaver runs tfweaver to its end and expects an exit code.
func (b *bench) tfweaver(w *lab.Workspace, code int, args ...string) *lab.Run {
	b.t.Helper()
	return b.exited(code)(w.Tfweaver(b.ctx, args...))
}

func (b *bench) exited(code int) func(*lab.Run, error) *lab.Run {
	return func(r *lab.Run, err error) *lab.Run {
		b.t.Helper()
		if err != nil {
			b.t.Fatal(err)
		}
		if r.ExitCode != code {
			b.t.Fatalf("%s: exit code %d, want %d", r.Name, r.ExitCode, code)
		}
		return r
	}
}

// starter is StartTerraform or StartTfweaver of a workspace.
type starter func(w *lab.Workspace, ctx context.Context, args ...string) (*lab.Run, error)

func plain(w *lab.Workspace, ctx context.Context, args ...string) (*lab.Run, error) {
	return w.StartTerraform(ctx, args...)
}

func woven(w *lab.Workspace, ctx context.Context, args ...string) (*lab.Run, error) {
	return w.StartTfweaver(ctx, args...)
}

// start starts a run.
func (b *bench) start(start starter, w *lab.Workspace, args ...string) *lab.Run {
	b.t.Helper()
	r, err := start(w, b.ctx, args...)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// applyAll applies all workspaces at once and waits for all. Exit codes are not
// judged.
func (b *bench) applyAll(start starter, workspaces ...*lab.Workspace) []*lab.Run {
	b.t.Helper()
	var runs []*lab.Run
	for _, w := range workspaces {
		runs = append(runs, b.start(start, w, "apply", "-auto-approve", "-no-color"))
	}
	b.wait(runs...)
	return runs
}

func (b *bench) wait(runs ...*lab.Run) {
	b.t.Helper()
	for _, r := range runs {
		if err := r.Wait(); err != nil {
			b.t.Fatal(err)
		}
	}
}

// succeeded fails the test unless all runs exited with 0.
func (b *bench) succeeded(runs ...*lab.Run) {
	b.t.Helper()
	for _, r := range runs {
		if err := r.MustSucceed(); err != nil {
			b.t.Error(err)
		}
	}
}

// log is the cloud's activity log.
func (b *bench) log() activity.Log {
	b.t.Helper()
	log, err := b.Cloud.Log()
	if err != nil {
		b.t.Fatal(err)
	}
	return log
}

// await waits for something in the cloud's log.
func (b *bench) await(what string, holds func(activity.Log) bool) {
	b.t.Helper()
	if err := b.Cloud.Await(b.ctx, what, holds); err != nil {
		b.t.Fatal(err)
	}
}

// awaitOf waits for something in the cloud's log that a run is to bring about.
func (b *bench) awaitOf(run *lab.Run, what string, holds func(activity.Log) bool) {
	b.t.Helper()
	err := b.Cloud.Await(b.ctx, what, func(log activity.Log) bool { return holds(log) || run.Exited() })
	if err != nil {
		b.t.Fatal(err)
	}
	if !holds(b.log()) {
		b.t.Fatalf("%s has ended, and it never was so that %s", run.Name, what)
	}
}

// clean fails the test if the cloud refused a call or an operation did not
// succeed.
func (b *bench) clean() activity.Log {
	b.t.Helper()
	log := b.log()
	for _, e := range log.Refused {
		b.t.Errorf("the cloud refused %s %s of %s: %d %s", e.Method, e.ObjectID, e.Actor, e.HTTPStatus, e.ErrorCode)
	}
	for _, o := range log.Operations {
		if o.Result != activity.Succeeded {
			b.t.Errorf("%s of %s by %s ended %s %s", o.Name, o.ObjectID, o.Actor, o.Result, o.ErrorCode)
		}
	}
	return log
}

// unchanged fails the test unless plain Terraform finds nothing to do.
func (b *bench) unchanged(workspaces ...*lab.Workspace) {
	b.t.Helper()
	for _, w := range workspaces {
		b.terraform(w, 0, "plan", "-detailed-exitcode", "-no-color")
	}
}
