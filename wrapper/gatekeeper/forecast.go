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
	"github.com/tfweaver/tfweaver/internal/core/lock"
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
	forecast, requests, err := g.lowerAll(ctx, changes)
	if err != nil || len(requests) == 0 {
		return forecast, err
	}
	prospects, err := g.session.Forecast(ctx, requests, declare)
	if err != nil {
		return views.Forecast{}, fmt.Errorf("forecast the plan: %w", err)
	}
	if len(prospects) != len(requests) {
		return views.Forecast{}, fmt.Errorf("forecast the plan: %d answers to %d changes", len(prospects), len(requests))
	}
	g.noteLives(requests, prospects)
	own := selves(requests)
	var foreseeing []conflict.Report
	for i, p := range prospects {
		report, mode := foreseen(p, own), g.modeOf(realmOf(requests[i]))
		if report == nil || mode == Off {
			continue
		}
		foreseeing = append(foreseeing, *report)
		if mode.lenient() && report.Decision != conflict.Wait {
			forecast.Passing = append(forecast.Passing, g.documented(*report))
		} else {
			forecast.Reports = append(forecast.Reports, g.documented(*report))
		}
	}
	g.settler.foreseen(foreseeing)
	return forecast, nil
}

func (g *Gatekeeper) lowerAll(ctx context.Context, changes Changes) (views.Forecast, []admission.Request, error) {
	var forecast views.Forecast
	var requests []admission.Request
	uncovered := map[string]bool{}
	for _, c := range changes.Calls() {
		op := c.Operation
		op.Session = g.session.ID()
		lowered, err := g.engine.Lower(ctx, op, g.live)
		if ctx.Err() != nil {
			return views.Forecast{}, nil, ctx.Err()
		}
		if lowered.Logical {
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
	}
	for name := range uncovered {
		forecast.Uncovered = append(forecast.Uncovered, name)
	}
	slices.Sort(forecast.Uncovered)
	return forecast, requests, nil
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

// selves are the objects that a plan changes.
func selves(requests []admission.Request) map[string]bool {
	own := map[string]bool{}
	for _, r := range requests {
		own[string(r.Self)] = true
	}
	return own
}

// foreseen is the report of a change that would wait or be refused, nil when
// nothing foreign is in its way. Each change is judged as if it came first;
// what the plan itself will have moved out of the way by then does not count,
// such as the references of an object that is deleted before.
func foreseen(p client.Prospect, own map[string]bool) *conflict.Report {
	if p.Report == nil || p.Report.Decision == "" {
		return nil
	}
	report := *p.Report
	report.Conflicts = slices.DeleteFunc(slices.Clone(report.Conflicts), func(c conflict.Conflict) bool {
		return passing(c, report.Requester.Session, own)
	})
	if len(report.Conflicts) == 0 {
		return nil
	}
	return &report
}

// passing says whether the plan itself removes a conflict in time: a call of
// this very run is in the way, or an object that the plan changes refers to
// what is deleted.
func passing(c conflict.Conflict, session string, own map[string]bool) bool {
	if c.Fact == nil {
		return c.Holder != nil && c.Holder.Session == session
	}
	_, referrer, named := strings.Cut(c.Fact.What, " ")
	return c.Relation == string(lock.Guarded) && c.Class == "dependency" && named && own[referrer]
}
