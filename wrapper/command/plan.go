// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
)

// maxPlan bounds the JSON form of a plan, in bytes.
const maxPlan = 1 << 30

// plan runs "plan" as it is. What it reads is passed on to the coordinator;
// where it saves the plan, a forecast follows. Without a saved plan nothing
// more can be said: an -out of our own would change what Terraform prints.
func (r *run) plan(ctx context.Context) (int, error) {
	stop := r.meter.during(doingPlan, nil)
	code, err := r.command(ctx)
	stop()
	r.leaveState(ctx) // the CLI has given up its lock
	planned := code == 0 || (code == 2 && r.opts.DetailedExitCode)
	if err != nil || !planned || r.opts.Out == "" || r.opts.Unclear || r.elsewhere() {
		return code, err
	}
	if _, err := r.readPlan(ctx, r.opts.Out); err != nil {
		r.log.WarnContext(ctx, "no forecast", "error", err)
		return code, nil
	}
	forecast, err := r.forecast(ctx, false)
	if err != nil {
		r.log.WarnContext(ctx, "no forecast", "error", err)
		return code, nil
	}
	r.view.Forecast(forecast)
	return code, nil
}

// savedPlan is what is known of a plan file.
type savedPlan struct {
	*lowering.Plan
	// calls is how many provider calls it foresees.
	calls int
}

// showPlan is a saved plan as the CLI prints it. Large ones have many megabytes:
// they are read while they are printed.
func (r *run) showPlan(ctx context.Context, path string) (draft *lowering.Draft, err error) {
	p := r.process()
	p.Args = append(append([]string{}, r.inv.Global...), "show", "-json", path)
	p.Env = r.env.Without("TF_CLI_ARGS", arguments.ArgsVariable("show"))
	p.Stdin = nil
	from := lowering.Sources{Schema: r.host.Schema, Configs: r.gate.Configs, CloudID: r.engine.CloudID}
	err = p.Stream(ctx, maxPlan, func(printed io.Reader) error {
		draft, err = lowering.ReadDraft(ctx, terraform.Object(printed), from)
		return err
	})
	if ended := r.ended(); ended != nil {
		return nil, ended
	}
	if err != nil && !errors.Is(err, lowering.ErrPlan) {
		err = fmt.Errorf("read the plan: %w", err)
	}
	return draft, err
}

// understand is a plan with what is known of the providers by now, of which the
// gatekeeper is told.
func (r *run) understand(draft *lowering.Draft) *savedPlan {
	plan := draft.Plan()
	r.gate.Plan(plan)
	return &savedPlan{Plan: plan, calls: len(plan.Operations())}
}

// readPlan does both.
func (r *run) readPlan(ctx context.Context, path string) (*savedPlan, error) {
	defer r.meter.during("reading the plan", nil)()
	draft, err := r.showPlan(ctx, path)
	if err != nil {
		return nil, err
	}
	return r.understand(draft), nil
}

// madeAt is when a plan was made, to the second: the end of that second, so that
// what was made just before it does not seem to be newer. False where it does not
// say so.
func (p *savedPlan) madeAt() (time.Time, bool) {
	return p.MadeAt.Add(time.Second - time.Nanosecond), !p.MadeAt.IsZero()
}
