// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// The phases of an apply that others are shown.
const (
	phaseApproval = "awaiting approval"
	phaseApplying = "applying"
)

// apply carries out "apply" and "destroy".
func (r *run) apply(ctx context.Context) (int, error) {
	switch {
	case r.elsewhere():
		return r.oneStep(ctx)
	case r.opts.Unclear, len(r.opts.Positional) > 1, r.opts.JSON && !r.opts.AutoApprove && r.opts.PlanFile() == "":
		// Terraform has something to say about such a command line.
		return r.oneStep(ctx)
	case r.opts.PlanFile() == "" && r.asksForEphemeral():
		return r.oneStep(ctx)
	case r.opts.PlanFile() != "":
		return r.applySaved(ctx)
	default:
		return r.twoSteps(ctx)
	}
}

// oneStep leaves planning and approval to the CLI: each call is admitted by
// itself, with nothing known beforehand.
func (r *run) oneStep(ctx context.Context) (int, error) {
	r.session.SetPhase(phaseApplying)
	return r.command(ctx)
}

// asksForEphemeral says whether the CLI will ask for the value of an ephemeral
// variable. It cannot be asked for in the first half of two: the second would
// lack it.
func (r *run) asksForEphemeral() bool {
	return r.opts.Input && len(r.workdir.AsksForEphemeral(terraform.Given{Vars: r.opts.Vars, VarFiles: r.opts.VarFiles, Env: r.env})) > 0
}

// applySaved applies the user's plan file. The providers are configured only
// when the CLI applies it, so what the plan means to the cloud is found out at
// the first call, and what it needs together is asked for then; nothing was sent
// by then.
func (r *run) applySaved(ctx context.Context) (int, error) {
	draft, err := r.showPlan(ctx, r.opts.PlanFile())
	if err != nil { // it may be no plan at all, or one of a newer kind
		r.log.WarnContext(ctx, "saved plan not understood", "error", err)
		return r.oneStep(ctx)
	}
	plan := r.understand(draft)
	order := r.order(ctx, plan, r.opts.PlanFile())
	r.gate.OnFirstCall(func(ctx context.Context) { r.announce(ctx, draft, order) })
	return r.applyFile(ctx, plan)
}

func (r *run) applyFile(ctx context.Context, plan *savedPlan) (int, error) {
	r.session.SetPhase(phaseApplying)
	args := append(append([]string{}, r.inv.Global...), r.inv.Command)
	args = append(args, r.opts.For(arguments.ApplyHalf|arguments.PlanHalf, "parallelism")...)
	args = append(args, r.slots(plan), r.opts.PlanFile())
	return r.locking(ctx, args, r.halfEnv())
}

// announce shows what is to be expected of a saved plan, declares what it
// creates, and reserves what it needs. A refusal of that is told by the calls,
// none of which is sent then. Each call is judged by itself whatever becomes of
// the rest.
func (r *run) announce(ctx context.Context, draft *lowering.Draft, order lowering.Order) {
	if at, known := r.understand(draft).madeAt(); known {
		if err := r.gate.MadeAt(ctx, at); err != nil {
			r.log.WarnContext(ctx, "age of the saved plan not told", "error", err)
		}
	}
	forecast, err := r.gate.Forecast(ctx, true)
	if err != nil {
		r.log.WarnContext(ctx, "no forecast", "error", err)
		return
	}
	if !forecast.Stops() { // else the refusals of the calls themselves say it
		r.view.Forecast(forecast)
	}
	if err := r.gate.Reserve(ctx, order); err != nil {
		r.log.WarnContext(ctx, "plan not reserved", "error", err)
	}
}

// consent shows the forecast, asks for approval, and declares what the plan
// will create. ok is false when the run ends here.
func (r *run) consent(ctx context.Context) (ok bool, code int, err error) {
	forecast, err := r.forecast(ctx, false)
	if err != nil {
		return false, 0, err
	}
	r.view.Forecast(forecast)
	if r.stops(forecast) {
		return false, r.refused(), nil
	}
	if !r.opts.AutoApprove {
		r.session.SetPhase(phaseApproval)
		if ok, err := r.approve(ctx); !ok {
			return false, ExitError, err
		}
	}
	ok, err = r.declare(ctx)
	return ok, r.refused(), err
}

// declare makes what the plan creates known to the others. It looks once more
// whether something is refused for certain: an approval may have taken hours.
func (r *run) declare(ctx context.Context) (bool, error) {
	r.session.SetPhase(phaseApplying)
	forecast, err := r.forecast(ctx, true)
	if err != nil {
		return false, err
	}
	if r.stops(forecast) {
		r.view.Forecast(forecast)
		return false, nil
	}
	return true, nil
}

// stops says whether a forecast ends the run. Somebody who passes a decision has
// seen a refusal before. Where they name the change, others that are refused end
// the run as ever; where they name the decision, its call will tell.
func (r *run) stops(forecast views.Forecast) bool {
	word := r.inv.Weaver.Override
	if !strings.Contains(word, ".") { // no address of Terraform's
		return forecast.Stops() && word == ""
	}
	forecast.Reports = slices.DeleteFunc(slices.Clone(forecast.Reports), func(c conflict.Report) bool { return c.Address == word })
	return forecast.Stops()
}

// forecast asks what would become of the plan, on the ground of everything
// that was read so far.
func (r *run) forecast(ctx context.Context, declare bool) (views.Forecast, error) {
	ctx, stop := r.app.interruptible(ctx)
	defer stop()
	r.gate.Flush(ctx)
	forecast, err := r.gate.Forecast(ctx, declare)
	if cause := context.Cause(ctx); cause != nil {
		return forecast, cause
	}
	return forecast, err
}

// refused is the exit code of a plan that cannot be made.
func (r *run) refused() int {
	if r.inv.Weaver.ExitCodes {
		return ExitRefused
	}
	return ExitError
}

// halfEnv is the environment of either half: the options of the environment
// were given to the half that they belong to.
func (r *run) halfEnv() arguments.Environment {
	return r.env.Without("TF_CLI_ARGS", arguments.ArgsVariable("plan"), arguments.ArgsVariable("apply"), arguments.ArgsVariable("destroy"))
}

// slots raises the CLI's parallelism to the number of changes: a call that
// waits for admission occupies a slot, and the call that it waits for must
// find one. The proxy keeps to the user's number.
func (r *run) slots(plan *savedPlan) string {
	return "-parallelism=" + strconv.Itoa(max(plan.calls, r.opts.Parallelism))
}
