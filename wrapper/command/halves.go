// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/scratch"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// maxPlans bounds how often a plan that became stale is made again.
const maxPlans = 5

// attempt is one plan and its apply.
type attempt struct {
	// number counts from 1.
	number int
	// path is that of the plan file.
	path string
	// last is true when a stale plan is not made again.
	last bool
	// before is what the plan before this one does; nil for the first.
	before map[string]string
	plan   *savedPlan
	// warned are the warnings among the lines of JSON.
	warned warnings
}

// twoSteps plans, asks for approval, and applies what was planned. In between
// somebody who does not line up may write the state. Then nothing is applied, and
// it is planned and asked again.
func (r *run) twoSteps(ctx context.Context) (int, error) {
	dir, err := r.private(scratch.ForFiles)
	if err != nil {
		return 0, err
	}
	var before map[string]string
	for number := 1; ; number++ {
		a := &attempt{number: number, path: filepath.Join(dir, fmt.Sprintf("plan-%d", number)), last: number == maxPlans, before: before}
		code, stale, err := r.planAndApply(ctx, a)
		if !stale || err != nil || a.last {
			return code, err
		}
		before = a.plan.Changes
		r.session.SetPhase(phasePlanning)
		r.view.Problem(views.Problem{
			Warning: true, Summary: "Planning again",
			Detail: fmt.Sprintf("Somebody who did not line up for it has changed the state after the plan was made, so nothing of that plan was applied. This is attempt %d of %d.", number+1, maxPlans),
		})
	}
}

// planAndApply makes one attempt. stale means that the state has changed
// between the two steps, so that nothing was applied.
func (r *run) planAndApply(ctx context.Context, a *attempt) (code int, stale bool, err error) {
	version, _ := r.localVersion()
	a.warned = warnings{out: r.lines}
	defer a.warned.release()
	code, err = r.planHalf(ctx, a)
	if code != 0 || err != nil {
		return code, false, err
	}
	// The CLI does not say with which permissions it writes the file.
	if err := os.Chmod(a.path, 0o600); err != nil {
		return 0, false, fmt.Errorf("protect the plan file: %w", err)
	}
	if a.plan, err = r.readPlan(ctx, a.path); err != nil {
		return 0, false, unreadable(filepath.Dir(a.path), err)
	}
	if a.before != nil {
		r.view.Problem(views.Problem{Warning: true, Summary: "This is a new plan", Detail: difference(a.before, a.plan.Changes)})
	}
	if a.plan.Applyable {
		if ok, code, err := r.consent(ctx); !ok {
			return code, false, err
		}
		if ok, code, err := r.reserve(ctx, a.plan, a.path); !ok {
			return code, false, err
		}
	}
	if !a.last && r.overtaken(a.path, version) {
		return ExitError, true, nil
	}
	return r.applyHalf(ctx, a)
}

func (r *run) planHalf(ctx context.Context, a *attempt) (int, error) {
	// Without this variable the CLI says what to do with the plan file.
	env := r.halfEnv().With("TF_IN_AUTOMATION", "1")
	h := step{args: r.planArgs(a), env: env, drop: later(a)}
	stop := r.meter.during(doingPlan, nil)
	code, err := r.take(ctx, &h)
	stop()
	if err == nil {
		r.explainLock(ctx, code, &h)
	}
	return code, err
}

func (r *run) planArgs(a *attempt) []string {
	args := append(append([]string{}, r.inv.Global...), "plan")
	if r.inv.Command == "destroy" {
		args = append(args, "-destroy")
	}
	if a.number == 1 {
		args = append(args, r.opts.For(arguments.PlanHalf)...)
	} else {
		args = append(args, r.lockArgs(r.opts.For(arguments.PlanHalf, "lock-timeout"))...)
	}
	return append(args, "-out="+a.path)
}

func (r *run) applyHalf(ctx context.Context, a *attempt) (code int, stale bool, err error) {
	without := []string{"parallelism", "lock-timeout"}
	if !terraform.TakesVariablesWithPlan(r.binary.Product, r.version) {
		without = append(without, "var", "var-file")
	}
	args := append(append([]string{}, r.inv.Global...), "apply")
	args = append(args, r.lockArgs(r.opts.For(arguments.ApplyHalf, without...))...)
	args = append(args, r.slots(a.plan), a.path)
	h := step{args: args, env: r.halfEnv(), drop: again(a), destroy: r.inv.Command == "destroy", quiet: !a.last}
	before := r.gate.Submitted()
	stop := r.meter.during("beginning to apply", func() bool { return r.gate.Submitted() != before })
	code, err = r.take(ctx, &h)
	stop()
	if err != nil || code != ExitError || r.gate.Submitted() != before || r.ended() != nil {
		return code, false, err
	}
	stale = h.stale || !h.watched && r.moved(ctx, a.path)
	if !stale {
		r.explainLock(ctx, code, &h)
	}
	return code, stale, nil
}

// lockArgs adds to the options of a half how long it waits for Terraform's own
// lock: a native run would have had it all the time since its plan, so whoever
// has it now is waited for, for as long as other runs are.
func (r *run) lockArgs(args []string) []string {
	given, err := time.ParseDuration(r.opts.LockTimeout)
	if r.opts.LockTimeout != "" && err != nil {
		return append(args, "-lock-timeout="+r.opts.LockTimeout) // the CLI says what is wrong with it
	}
	left := r.inv.Weaver.Wait - r.waited
	if !r.opts.Lock || given >= left {
		left = given
	}
	if r.opts.LockTimeout == "" && left <= 0 {
		return args
	}
	return append(args, "-lock-timeout="+left.Round(time.Second).String())
}

// later leaves out of the plan's lines what comes later, and in a repeated plan the
// version.
func later(a *attempt) func([]byte) bool {
	return func(line []byte) bool {
		return a.warned.plan(line) || a.number > 1 && typeOf(line) == "version"
	}
}

// again leaves out of the second half's lines what was said, and says before them
// what was left out of the plan's.
func again(a *attempt) func([]byte) bool {
	a.warned.applying()
	return func(line []byte) bool { return repeated(line) || a.warned.apply(line) }
}

// repeated says whether the second half says again what the first one said.
func repeated(line []byte) bool {
	switch typeOf(line) {
	case "version", "planned_change", "resource_drift":
		return true
	default:
		return false
	}
}

func typeOf(line []byte) string {
	var l struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(line, &l) != nil {
		return ""
	}
	return l.Type
}
