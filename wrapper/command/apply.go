// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/tfweaver/tfweaver/wrapper/scratch"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// maxPlans bounds how often a plan that became stale is made again.
const maxPlans = 3

// The phases of an apply that others are shown.
const (
	phaseApproval = "awaiting approval"
	phaseApplying = "applying"
)

// apply carries out "apply" and "destroy".
func (r *run) apply(ctx context.Context) (int, error) {
	switch {
	case r.workdir.Remote():
		r.view.Problem(views.Problem{
			Warning: true, Summary: "Remote operations are not coordinated",
			Detail: fmt.Sprintf("The %q backend may run this operation on another machine, where its provider calls cannot be seen.", r.workdir.Backend),
		})
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
	return r.cli(ctx, r.inv.Argv(), r.env, nil)
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
	text, err := r.showPlan(ctx, r.opts.PlanFile())
	if err == nil {
		var plan *savedPlan
		if plan, err = r.understand(ctx, text); err == nil {
			order := r.order(ctx, plan, r.opts.PlanFile())
			r.gate.OnFirstCall(func(ctx context.Context) { r.announce(ctx, text, order) })
			return r.applyFile(ctx, plan)
		}
	}
	// It may be no plan at all, or one of a newer kind.
	r.log.WarnContext(ctx, "saved plan not understood", "error", err)
	return r.oneStep(ctx)
}

func (r *run) applyFile(ctx context.Context, plan *savedPlan) (int, error) {
	r.session.SetPhase(phaseApplying)
	args := append(append([]string{}, r.inv.Global...), r.inv.Command)
	args = append(args, r.opts.For(arguments.ApplyHalf|arguments.PlanHalf, "parallelism")...)
	args = append(args, r.slots(plan), r.opts.PlanFile())
	return r.cli(ctx, args, r.halfEnv(), nil)
}

// announce shows what is to be expected of a saved plan, declares what it
// creates, and reserves what it needs. A refusal of that is told by the calls,
// none of which is sent then. Each call is judged by itself whatever becomes of
// the rest.
func (r *run) announce(ctx context.Context, text []byte, order lowering.Order) {
	if _, err := r.understand(ctx, text); err != nil {
		r.log.WarnContext(ctx, "saved plan not understood", "error", err)
		return
	}
	if at, known := madeAt(text); known {
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

// twoSteps plans, asks for approval, and applies what was planned.
func (r *run) twoSteps(ctx context.Context) (int, error) {
	dir, err := r.private(scratch.ForFiles)
	if err != nil {
		return 0, err
	}
	for attempt := 1; ; attempt++ {
		path := filepath.Join(dir, fmt.Sprintf("plan-%d", attempt))
		code, stale, err := r.planAndApply(ctx, path, attempt)
		if !stale || err != nil || !r.opts.AutoApprove || attempt == maxPlans {
			return code, err
		}
		r.view.Problem(views.Problem{
			Warning: true, Summary: "Planning again",
			Detail: fmt.Sprintf("The state was changed after the plan was made. This is attempt %d of %d.", attempt+1, maxPlans),
		})
	}
}

// planAndApply makes one attempt. stale means that the state has changed
// between the two steps, so that nothing was applied.
func (r *run) planAndApply(ctx context.Context, path string, attempt int) (code int, stale bool, err error) {
	stop := r.meter.during(doingPlan, nil)
	code, err = r.cli(ctx, r.planArgs(path), r.halfEnv().With("TF_IN_AUTOMATION", "1"), r.dropAgain(attempt))
	stop()
	if code != 0 || err != nil {
		return code, false, err
	}
	// The CLI does not say with which permissions it writes the file.
	if err := os.Chmod(path, 0o600); err != nil {
		return 0, false, fmt.Errorf("protect the plan file: %w", err)
	}
	plan, err := r.readPlan(ctx, path)
	if err != nil {
		return 0, false, err
	}
	if plan.applyable {
		if ok, code, err := r.consent(ctx, attempt); !ok {
			return code, false, err
		}
		if ok, code, err := r.reserve(ctx, plan, path); !ok {
			return code, false, err
		}
	}
	return r.applyHalf(ctx, plan, path)
}

// consent shows the forecast, asks for approval, and declares what the plan
// will create. ok is false when the run ends here.
func (r *run) consent(ctx context.Context, attempt int) (ok bool, code int, err error) {
	forecast, err := r.forecast(ctx, false)
	if err != nil {
		return false, 0, err
	}
	r.view.Forecast(forecast)
	if r.stops(forecast) {
		return false, r.refused(), nil
	}
	if !r.opts.AutoApprove && attempt == 1 {
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

func (r *run) planArgs(path string) []string {
	args := append(append([]string{}, r.inv.Global...), "plan")
	if r.inv.Command == "destroy" {
		args = append(args, "-destroy")
	}
	args = append(args, r.opts.For(arguments.PlanHalf)...)
	return append(args, "-out="+path)
}

// slots raises the CLI's parallelism to the number of changes: a call that
// waits for admission occupies a slot, and the call that it waits for must
// find one. The proxy keeps to the user's number.
func (r *run) slots(plan *savedPlan) string {
	return "-parallelism=" + strconv.Itoa(max(plan.calls, r.opts.Parallelism))
}

func (r *run) applyHalf(ctx context.Context, plan *savedPlan, path string) (code int, stale bool, err error) {
	without := []string{"parallelism"}
	if !terraform.TakesVariablesWithPlan(r.binary.Product, r.version) {
		without = append(without, "var", "var-file")
	}
	args := append(append([]string{}, r.inv.Global...), "apply")
	args = append(args, r.opts.For(arguments.ApplyHalf, without...)...)
	args = append(args, r.slots(plan), path)
	before := r.gate.Submitted()
	watch := &staleness{}
	stop := r.meter.during("beginning to apply", func() bool { return r.gate.Submitted() != before })
	code, err = r.applyCLI(ctx, args, watch)
	stop()
	return code, code == ExitError && watch.seen() && r.gate.Submitted() == before, err
}

// applyCLI runs the second half and watches for the message that the plan is
// stale. On a terminal the CLI keeps its own standard error, so that it looks
// as it always does; there a person can plan again.
func (r *run) applyCLI(ctx context.Context, args []string, watch *staleness) (int, error) {
	if r.lines != nil {
		return r.cli(ctx, args, r.halfEnv(), func(line []byte) bool {
			watch.look(line)
			return repeated(line)
		})
	}
	if !r.opts.AutoApprove || isTerminal(r.app.Stderr) {
		return r.cli(ctx, args, r.halfEnv(), nil)
	}
	stderr := r.app.Stderr
	defer func() { r.app.Stderr = stderr }()
	r.app.Stderr = io.MultiWriter(stderr, watch)
	return r.cli(ctx, args, r.halfEnv(), nil)
}

// dropAgain leaves the version line of a repeated plan out.
func (r *run) dropAgain(attempt int) func([]byte) bool {
	if attempt == 1 {
		return nil
	}
	return func(line []byte) bool { return typeOf(line) == "version" }
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

// staleness finds the CLI's message about a stale plan in what it prints.
type staleness struct {
	mu   sync.Mutex
	tail []byte
	hit  bool
}

// staleMessage is the summary of Terraform's and OpenTofu's error.
const staleMessage = "Saved plan is stale"

// Write never fails.
func (s *staleness) Write(p []byte) (int, error) {
	s.look(p)
	return len(p), nil
}

func (s *staleness) look(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := append(s.tail, p...)
	s.hit = s.hit || bytes.Contains(text, []byte(staleMessage))
	s.tail = append([]byte{}, text[max(0, len(text)-len(staleMessage)):]...)
}

func (s *staleness) seen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hit
}
