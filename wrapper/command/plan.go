// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
	// applyable is false when there is nothing to apply.
	applyable bool
	// actions are what it does, such as "create", to which address.
	actions map[string]string
}

// showPlan is the JSON form of a saved plan.
func (r *run) showPlan(ctx context.Context, path string) ([]byte, error) {
	p := r.process()
	p.Args = append(append([]string{}, r.inv.Global...), "show", "-json", path)
	p.Env = r.env.Without("TF_CLI_ARGS", arguments.ArgsVariable("show"))
	p.Stdin = nil
	text, err := p.Output(ctx, maxPlan)
	if ended := r.ended(); ended != nil {
		return nil, ended
	}
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	return terraform.Document(text), nil
}

// understand reads the JSON form of a plan with what is known of the providers
// by now, and tells the gatekeeper what is to come.
func (r *run) understand(ctx context.Context, text []byte) (*savedPlan, error) {
	plan, err := lowering.Read(ctx, text, lowering.Sources{
		Schema: r.host.Schema, Configs: r.gate.Configs, CloudID: r.engine.CloudID,
	})
	if err != nil {
		return nil, err
	}
	r.gate.Plan(plan)
	saved := &savedPlan{Plan: plan, calls: len(plan.Operations())}
	saved.applyable, saved.actions = outlined(text)
	return saved, nil
}

// readPlan does both.
func (r *run) readPlan(ctx context.Context, path string) (*savedPlan, error) {
	defer r.meter.during("reading the plan", nil)()
	text, err := r.showPlan(ctx, path)
	if err != nil {
		return nil, err
	}
	return r.understand(ctx, text)
}

// madeAt is when a plan was made, to the second: the end of that second, so that
// what was made just before it does not seem to be newer. False where it does not
// say so.
func madeAt(text []byte) (time.Time, bool) {
	var plan struct {
		Timestamp time.Time `json:"timestamp"`
	}
	if err := json.Unmarshal(text, &plan); err != nil || plan.Timestamp.IsZero() {
		return time.Time{}, false
	}
	return plan.Timestamp.Add(time.Second - time.Nanosecond), true
}

// outline is what the JSON form of a plan says of its changes as a whole.
type outline struct {
	Applyable *bool `json:"applyable"`
	Resources []struct {
		Address string `json:"address"`
		Deposed string `json:"deposed"`
		Change  change `json:"change"`
	} `json:"resource_changes"`
	Outputs map[string]change `json:"output_changes"`
}

// outlined says whether there is anything to apply, and what is done to which
// address. A plan that is not understood may do anything.
func outlined(text []byte) (applyable bool, actions map[string]string) {
	var o outline
	if json.Unmarshal(text, &o) != nil {
		return true, nil
	}
	return o.applyable(), o.actions()
}

// actions are what the plan does, to which address.
func (o outline) actions() map[string]string {
	actions := map[string]string{}
	for _, r := range o.Resources {
		if r.Change.does() {
			address := r.Address
			if r.Deposed != "" {
				address += " (deposed " + r.Deposed + ")"
			}
			actions[address] = r.Change.name()
		}
	}
	for name, c := range o.Outputs {
		if c.does() {
			actions["output."+name] = c.name()
		}
	}
	return actions
}

// applyable says whether the CLI would ask for approval of the plan. Versions
// that do not say so themselves have told it by the actions.
func (o outline) applyable() bool {
	if o.Applyable != nil {
		return *o.Applyable
	}
	return len(o.actions()) > 0
}

// change is what a plan says of the actions of one change.
type change struct {
	Actions []string `json:"actions"`
}

func (c change) does() bool {
	return slices.ContainsFunc(c.Actions, func(a string) bool { return a != "no-op" && a != "read" })
}

// name is what people call the actions, in one word.
func (c change) name() string {
	if slices.Contains(c.Actions, "create") && slices.Contains(c.Actions, "delete") {
		return "replace"
	}
	return strings.Join(c.Actions, " and ")
}
