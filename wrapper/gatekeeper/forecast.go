// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// Forecast asks what would become of the plan's changes if they were made
// now, and notes the lives of the objects that the plan was made on. With
// declare, the other sessions learn what the plan will create.
func (g *Gatekeeper) Forecast(ctx context.Context, declare bool) (views.Forecast, error) {
	changes := g.planned()
	if changes == nil {
		return views.Forecast{}, nil
	}
	forecast, requests, buckets, err := g.lowerAll(ctx, changes)
	if err != nil || len(requests) == 0 {
		return forecast, err
	}
	g.measure(ctx, buckets)
	prospects, err := g.prospects(ctx, requests, declare)
	if err != nil {
		return views.Forecast{}, err
	}
	// A change that would be refused ends the run: not on old knowledge.
	if nodes := outdated(refusals(prospects)); len(nodes) > 0 && len(g.refreshAll(ctx, nodes)) < len(nodes) {
		if prospects, err = g.prospects(ctx, requests, declare); err != nil {
			return views.Forecast{}, err
		}
	}
	doubts := g.settler.foreseen(ctx, prospects)
	if doubts.settled {
		if prospects, err = g.prospects(ctx, requests, declare); err != nil {
			return views.Forecast{}, err
		}
	}
	g.lookBefore(ctx, requests, prospects)
	forecast.NoWait = g.config.Wait == 0
	g.noteLives(requests, prospects)
	own := resolvedBy(requests)
	for i, p := range prospects {
		report, mode := foreseen(p, own), g.modeOf(realmOf(requests[i]))
		if report == nil {
			continue
		}
		*report = conflict.LeaveToReading(*report, doubts.reads)
		if (mode.lenient() || g.within(*report)) && report.Decision != conflict.Wait {
			forecast.Passing = append(forecast.Passing, g.documented(*report))
		} else {
			forecast.Reports = append(forecast.Reports, g.documented(*report))
		}
	}
	return forecast, nil
}

// prospects asks the coordinator.
func (g *Gatekeeper) prospects(ctx context.Context, requests []admission.Request, declare bool) ([]client.Prospect, error) {
	list, err := g.session.Forecast(ctx, requests, declare)
	if err != nil {
		return nil, fmt.Errorf("forecast the plan: %w", err)
	}
	if len(list) != len(requests) {
		return nil, fmt.Errorf("forecast the plan: %d answers to %d changes", len(list), len(requests))
	}
	return list, nil
}

// refusals are the reasons of all changes that would be refused.
func refusals(prospects []client.Prospect) conflict.Report {
	var all conflict.Report
	for _, p := range prospects {
		if p.Report != nil && p.Report.Decision == conflict.Reject {
			all.Conflicts = append(all.Conflicts, p.Report.Conflicts...)
		}
	}
	return all
}

// lowerAll lowers all changes of a plan, but for those of realms that are not
// coordinated.
func (g *Gatekeeper) lowerAll(ctx context.Context, changes Changes) (views.Forecast, []admission.Request, []ruleengine.Bucket, error) {
	var forecast views.Forecast
	var requests []admission.Request
	var buckets []ruleengine.Bucket
	uncovered := map[string]bool{}
	for _, c := range changes.Calls() {
		op := c.Operation
		op.Session = g.session.ID()
		lowered, err := g.engine.Lower(ctx, op, g.live)
		if ctx.Err() != nil {
			return views.Forecast{}, nil, nil, ctx.Err()
		}
		if lowered.Logical || g.modeOf(realmOf(lowered.Request)) == Off {
			continue
		}
		forecast.Changes++
		if err != nil {
			forecast.Unforeseen = append(forecast.Unforeseen, views.Unforeseen{Address: op.Address, Reason: err.Error()})
			continue
		}
		if lowered.Ruled {
			forecast.Covered++
		} else {
			uncovered[op.Type] = true
		}
		r := lowered.Request
		r.Session = admission.SessionID(g.session.ID())
		requests = append(requests, r)
		buckets = append(buckets, lowered.Buckets...)
	}
	for name := range uncovered {
		forecast.Uncovered = append(forecast.Uncovered, name)
	}
	slices.Sort(forecast.Uncovered)
	return forecast, requests, buckets, nil
}

// noteLives remembers which life of each object the plan was made on: the one
// of the first forecast. An object that the coordinator has never heard of has
// none.
func (g *Gatekeeper) noteLives(requests []admission.Request, prospects []client.Prospect) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, p := range prospects {
		self := requests[i].Self
		if _, noted := g.lives[self]; !noted && p.Incarnation > 0 {
			g.lives[self] = p.Incarnation
		}
	}
}

// resolved is what a plan itself moves out of its way.
type resolved struct {
	// selves are the objects that it changes, frees the counts of which it gives
	// something back.
	selves map[string]bool
	frees  map[escrow.Key]bool
}

func resolvedBy(requests []admission.Request) resolved {
	own := resolved{selves: map[string]bool{}, frees: map[escrow.Key]bool{}}
	for _, r := range requests {
		own.selves[string(r.Self)] = true
		for _, x := range r.Effects {
			if x.Amount < 0 {
				own.frees[x.Bucket] = true
			}
		}
	}
	return own
}

// foreseen is the report of a change that would wait or be refused, nil when
// nothing foreign is in its way. Each change is judged as if it came first;
// what the plan itself will have moved out of the way by then does not count,
// such as the references of an object that is deleted before.
func foreseen(p client.Prospect, own resolved) *conflict.Report {
	if p.Report == nil || p.Report.Decision == "" {
		return nil
	}
	report := *p.Report
	report.Conflicts = slices.DeleteFunc(slices.Clone(report.Conflicts), func(c conflict.Conflict) bool {
		return own.passes(c, report.Requester.Session)
	})
	if len(report.Conflicts) == 0 {
		return nil
	}
	return &report
}

// passes says whether the plan itself removes a conflict in time: a call of
// this very run is in the way, or an object that the plan changes refers to
// what is deleted. Of a count that the plan also gives back from, one change
// says nothing: the reservation of the whole plan will.
func (own resolved) passes(c conflict.Conflict, session string) bool {
	switch {
	case c.Capacity != nil:
		return own.frees[admission.BucketOf(graph.NodeID(c.Resource.CloudID), c.Capacity.Bucket)]
	case c.Fact == nil:
		return c.Holder != nil && c.Holder.Session == session
	}
	_, referrer, named := strings.Cut(c.Fact.What, " ")
	return c.Relation == string(lock.Guarded) && c.Class == "dependency" && named && own.selves[referrer]
}
