// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lineup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

// Way is how several applies on one state are carried out.
type Way string

// The ways.
const (
	// Woven starts all at once, under tfweaver.
	Woven Way = "tfweaver, all at once"
	// WovenByTurns starts each under tfweaver when the one before has ended.
	WovenByTurns Way = "tfweaver, one after another"
	// Plain starts all at once, with plain Terraform, which waits for the state's
	// lock by itself.
	Plain Way = "plain Terraform with -lock-timeout, all at once"
	// PlainByTurns starts each when the one before has ended.
	PlainByTurns Way = "plain Terraform, one after another"
)

// Ways are all ways, the quickest first.
func Ways() []Way { return []Way{PlainByTurns, WovenByTurns, Woven, Plain} }

func (w Way) woven() bool  { return w == Woven || w == WovenByTurns }
func (w Way) atOnce() bool { return w == Woven || w == Plain }

// StateSetup is a cloud in which each apply of the scenario holds the state for
// some two seconds.
func StateSetup() lab.Setup {
	return lab.Setup{Cloud: lab.CloudConfig{Latencies: map[string]time.Duration{
		"resource_group": 10 * time.Millisecond, "virtual_network": 1200 * time.Millisecond,
	}}}
}

// StateResult is what became of several applies on one state.
type StateResult struct {
	Way Way
	// Total is the time from the first start to the last end of a process.
	Total time.Duration
	// Ran are the actors in the order in which they had the state, Queue in the
	// order in which they lined up for it, if they did.
	Ran, Queue []string
	// Gaps are the times from the end of each holder's last lock to the beginning
	// of the next one's first. A negative one is an overlap.
	Gaps []time.Duration
	// StartToLock are the times from the start of each process to its first lock.
	StartToLock []time.Duration
	// Held are the times from each one's first lock to the end of its last.
	Held []time.Duration
	// Refused counts the runs that did not exit with 0.
	Refused int
	// Chained is an error if a version of the state was lost.
	Chained error
}

const stateName = "shared"

// OneState has n actors apply on one state behind HTTP, each of them another
// change of the same network.
func OneState(ctx context.Context, e *lab.Experiment, n int, way Way) (r StateResult, err error) {
	store, err := lab.StartStateStore(nil)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	spaces, err := sharers(ctx, e, store, n)
	if err != nil {
		return r, err
	}
	before := len(store.Requests(stateName))
	runs, err := way.run(ctx, spaces)
	if err != nil {
		return r, err
	}
	r = judgeState(runs, store.Requests(stateName)[before:])
	r.Way, r.Chained = way, store.Chain(stateName)
	if way == Woven {
		r.Queue, err = queued(ctx, e)
	}
	return r, err
}

// sharers makes the network, with plain Terraform, and a workspace for each.
func sharers(ctx context.Context, e *lab.Experiment, store *lab.StateStore, n int) (all []*lab.Workspace, err error) {
	for i := range n {
		w, err := e.WorkspaceOn(ctx, store, stateName, name(i), network(""))
		if err != nil {
			return nil, err
		}
		if i == 0 {
			if err := succeed(w.Terraform(ctx, "apply", "-auto-approve", "-no-color")); err != nil {
				return nil, err
			}
		}
		if err := w.Configure(network(fmt.Sprintf("by = %q", name(i)))); err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// run carries all applies out, and waits for all of them.
func (w Way) run(ctx context.Context, spaces []*lab.Workspace) (runs []*lab.Run, err error) {
	start, args := (*lab.Workspace).StartTerraform, []string{"apply", "-auto-approve", "-no-color"}
	if w.woven() {
		start = (*lab.Workspace).StartTfweaver
	} else {
		args = append(args, "-lock-timeout=120s")
	}
	for _, space := range spaces {
		run, err := start(space, ctx, args...)
		if err != nil {
			return nil, err
		}
		if runs = append(runs, run); !w.atOnce() {
			if err := run.Wait(); err != nil {
				return nil, err
			}
		}
	}
	for _, run := range runs {
		err = errors.Join(err, run.Wait())
	}
	return runs, err
}

// turn is the time in which one had the state.
type turn struct {
	actor       string
	first, last time.Time
}

// turns are in the order of their first locks.
func turns(asked []lab.StateRequest) (all []turn) {
	index := make(map[string]int)
	for _, r := range asked {
		if r.Status != http.StatusOK {
			continue
		}
		n, known := index[r.By]
		switch {
		case r.Method == "LOCK" && !known:
			index[r.By] = len(all)
			all = append(all, turn{actor: r.By, first: r.At})
		case r.Method == "UNLOCK" && known:
			all[n].last = r.At
		}
	}
	return all
}

func judgeState(runs []*lab.Run, asked []lab.StateRequest) (r StateResult) {
	started := make(map[string]time.Time)
	for _, run := range runs {
		started[run.Actor] = run.Started
		if run.ExitCode != 0 {
			r.Refused++
		}
	}
	all := turns(asked)
	for n, t := range all {
		r.Ran = append(r.Ran, t.actor)
		r.Held = append(r.Held, t.last.Sub(t.first))
		r.StartToLock = append(r.StartToLock, t.first.Sub(started[t.actor]))
		if n > 0 {
			r.Gaps = append(r.Gaps, t.first.Sub(all[n-1].last))
		}
	}
	r.Total = span(runs)
	return r
}

// queued are the actors in the order in which they asked for the state.
func queued(ctx context.Context, e *lab.Experiment) (actors []string, err error) {
	journal, err := e.Journal(ctx)
	if err != nil {
		return nil, err
	}
	for _, record := range journal.Records {
		for _, event := range record.Events {
			if s, ok := event.(admission.TxSubmitted); ok && s.Tx.Type == conflict.StateType {
				session := string(s.Tx.Session)
				actor := session[:max(0, strings.LastIndexByte(session, '-'))]
				if !slices.Contains(actors, actor) {
					actors = append(actors, actor)
				}
			}
		}
	}
	return actors, nil
}
