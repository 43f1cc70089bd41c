// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package fleet is the scenario of two fleets of machines that fit into the quota
// of a region alone and not together, as in examples/capacity: twelve processors
// each, of twenty.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// The sessions; each has a folder of that name in the example.
const (
	Web   = "web"
	Batch = "batch"
)

// What there is and what each session wants, in virtual processors.
const (
	Limit = 20
	Wants = 12
	// machines is how many make that up.
	machines = 3
)

// limit bounds one run of the scenario.
const limit = 3 * time.Minute

// Config says how the scenario is run.
type Config struct {
	Lab *lab.Lab
	// Coordinated is false for plain Terraform.
	Coordinated bool
	// Scale multiplies the cloud's latencies.
	Scale float64
	// LogFile is where the cloud's log goes.
	LogFile string
}

// Figure is what came of it, in the form of result.json.
type Figure struct {
	Name string `json:"name"`
	// Machines counts those that each session has in the end.
	Machines map[string]int `json:"machines"`
	// Whole counts the sessions that have all that they wanted, Half those that
	// have some of it.
	Whole          int `json:"whole"`
	Half           int `json:"half"`
	RefusedAtCloud int `json:"refused_at_cloud"`
	// Told is the count that the session which has nothing was told of first; nil
	// where nobody was told.
	Told *Told `json:"told,omitempty"`
}

// Told is a shortage in numbers, and who has the rest.
type Told struct {
	Bucket   string `json:"bucket"`
	Limit    int64  `json:"limit"`
	Used     int64  `json:"used"`
	Reserved int64  `json:"reserved"`
	Asked    int64  `json:"asked"`
	By       string `json:"by"`
	Purpose  string `json:"purpose"`
}

// Trace is a figure with what it was made from.
type Trace struct {
	Figure
	Log   activity.Log
	Lines map[string][]lab.Line
}

// Run lets both apply at once.
func Run(ctx context.Context, cfg Config) (t Trace, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	e, err := cfg.Lab.Experiment(ctx, lab.Setup{LogFile: cfg.LogFile, Cloud: lab.CloudConfig{
		Scale: cfg.Scale, Quotas: map[string]int{lab.Location: Limit},
		Latencies: map[string]time.Duration{"resource_group": 10 * time.Millisecond, "virtual_machine": 6 * time.Second},
	}})
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := base(ctx, e); err != nil {
		return t, err
	}
	runs, err := start(ctx, e, cfg.Coordinated)
	if err != nil {
		return t, err
	}
	return trace(e, cfg.Coordinated, runs)
}

func folder(e *lab.Experiment, session string) string {
	return filepath.Join(e.Lab.Module, "examples", "capacity", session)
}

// base makes the resource group of both.
func base(ctx context.Context, e *lab.Experiment) error {
	w, err := e.FromFolder(ctx, "base", folder(e, "base"))
	if err != nil {
		return err
	}
	run, err := w.Terraform(ctx, "apply", "-auto-approve", "-no-color")
	if err != nil {
		return err
	}
	return run.MustSucceed()
}

// start starts both sessions and waits for both.
func start(ctx context.Context, e *lab.Experiment, coordinated bool) (map[string]*lab.Run, error) {
	runs := make(map[string]*lab.Run)
	for _, session := range []string{Web, Batch} {
		w, err := e.FromFolder(ctx, session, folder(e, session))
		if err != nil {
			return nil, err
		}
		starter, args := (*lab.Workspace).StartTerraform, []string{"apply", "-auto-approve", "-json"}
		if coordinated {
			starter, args = (*lab.Workspace).StartTfweaver, append(args, "-weaver-intent=machines for "+session)
		}
		if runs[session], err = starter(w, ctx, args...); err != nil {
			return nil, err
		}
	}
	return runs, errors.Join(runs[Web].Wait(), runs[Batch].Wait())
}

func trace(e *lab.Experiment, coordinated bool, runs map[string]*lab.Run) (t Trace, err error) {
	if t.Log, err = e.Cloud.Log(); err != nil {
		return t, err
	}
	t.Figure = Measure(t.Log)
	t.Name, t.Lines = "plain", make(map[string][]lab.Line)
	if coordinated {
		t.Name = "coordinated"
	}
	for session, run := range runs {
		if t.Lines[session], err = lab.Lines(run.Stdout()); err != nil {
			return t, err
		}
		if told := FirstTold(t.Lines[session]); told != nil && t.Told == nil {
			t.Told = told
		}
	}
	return t, nil
}

// Measure computes the figures of a log.
func Measure(log activity.Log) Figure {
	f := Figure{Machines: map[string]int{Web: 0, Batch: 0}, RefusedAtCloud: len(log.Refused)}
	for _, o := range log.Operations {
		if strings.HasSuffix(o.ObjectType, "/virtualMachines") && o.Result == activity.Succeeded {
			f.Machines[o.Actor]++
		}
	}
	for _, n := range f.Machines {
		switch {
		case n == machines:
			f.Whole++
		case n > 0:
			f.Half++
		}
	}
	return f
}

// FirstTold is the shortage that the first report among lines tells of.
func FirstTold(lines []lab.Line) *Told {
	for _, l := range lines {
		for _, c := range l.Report.Conflicts {
			if c.Capacity == nil {
				continue
			}
			told := &Told{Bucket: c.Capacity.Bucket, Limit: c.Capacity.Limit, Used: c.Capacity.Used, Reserved: c.Capacity.Reserved, Asked: c.Capacity.Asked}
			if c.Holder != nil {
				told.By, told.Purpose = c.Holder.Actor, c.Holder.Objective
			}
			return told
		}
	}
	return nil
}

// Check is an error unless coordination has made a difference: without it somebody
// is left with half a fleet, with it one has all and the other nothing, and was
// told why before the cloud was asked.
func Check(plain, coordinated Figure) error {
	var errs []error
	if plain.RefusedAtCloud == 0 || plain.Half == 0 {
		errs = append(errs, fmt.Errorf("plain: expected that the cloud refuses some and somebody has half a fleet; found %v, %d refused", plain.Machines, plain.RefusedAtCloud))
	}
	if coordinated.Whole != 1 || coordinated.Half != 0 || coordinated.RefusedAtCloud != 0 {
		errs = append(errs, fmt.Errorf("coordinated: expected that one has all and the other nothing; found %v, %d refused", coordinated.Machines, coordinated.RefusedAtCloud))
	}
	if t := coordinated.Told; t == nil || t.Limit != Limit || t.Asked != Wants {
		errs = append(errs, fmt.Errorf("coordinated: expected that who has nothing is told of a limit of %d and the %d it asked for; told was %+v", Limit, Wants, t))
	}
	return errors.Join(errs...)
}
