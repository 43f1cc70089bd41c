// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/timeline"
	"github.com/tfweaver/tfweaver/acceptance/validation"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

const subtitle = "Six operations of three Terraform runs, from the simulated cloud\u2019s own activity log"

func title(r validation.Result) string {
	text := "Three runs, one cloud"
	if r.Scale != 1 || r.Seed != 0 {
		text += fmt.Sprintf(" (scale %g, seed %d)", r.Scale, r.Seed)
	}
	return text
}

func panelsOf(traces []validation.Trace) []timeline.Panel {
	var panels []timeline.Panel
	for _, t := range traces {
		panels = append(panels, panelOf(t))
	}
	return panels
}

// panelOf turns a trace into lanes; times count from the first operation.
func panelOf(t validation.Trace) timeline.Panel {
	p := timeline.Panel{Title: t.Name + ": " + explanation(t.Name), End: t.Log.Makespan(), Summary: fmt.Sprintf(
		"%d of %d succeeded, %d refused at the cloud, %.2f s (critical path %.2f s)", t.OK, t.Total, t.RefusedAtCloud, t.MakespanS, t.CriticalPathS)}
	if len(t.Log.Operations) == 0 {
		return p
	}
	zero := t.Log.Operations[0].Start
	for _, session := range validation.Sessions() {
		lane := timeline.Lane{Name: session}
		for _, w := range t.Waits {
			if w.Session == session {
				lane.Segments = append(lane.Segments, waitingSegment(w, zero))
			}
		}
		for _, o := range t.Log.Operations {
			if o.Actor == session {
				lane.Segments = append(lane.Segments, operationSegment(o, zero))
			}
		}
		for _, e := range t.Log.Refused {
			if e.Actor == session {
				lane.Segments = append(lane.Segments, refusedSegment(e, zero))
			}
		}
		slices.SortStableFunc(lane.Segments, func(a, b timeline.Segment) int { return cmp.Compare(a.From, b.From) })
		p.Lanes = append(p.Lanes, lane)
	}
	return p
}

// explanation says what a policy is.
func explanation(policy string) string {
	switch policy {
	case validation.Serial:
		return "terraform, one after another"
	case validation.Uncoordinated:
		return "terraform, at once"
	}
	return "tfweaver, at once"
}

func waitingSegment(w validation.Wait, zero time.Time) timeline.Segment {
	from, to := max(w.From.Sub(zero), 0), max(w.To.Sub(zero), 0)
	return timeline.Segment{
		Kind: timeline.Waiting, Label: "waits for " + w.For, From: from, To: to,
		Note: fmt.Sprintf("%s waits %.2f s for %s", w.Address, (to - from).Seconds(), w.For),
	}
}

func operationSegment(o activity.Operation, zero time.Time) timeline.Segment {
	s := timeline.Segment{From: o.Start.Sub(zero), To: o.End.Sub(zero)}
	s.Kind, s.Label = describe(o.ObjectType, o.ObjectID)
	s.Note = fmt.Sprintf("%s %s, %.2f s: %s", s.Label, o.Method, o.Duration().Seconds(), o.Result)
	if !o.Done() {
		s.To = s.From
	}
	if o.Result != activity.Succeeded {
		s.Kind, s.Label = timeline.Broken, s.Label+" "+string(o.Result)
	}
	return s
}

func refusedSegment(e activity.Event, zero time.Time) timeline.Segment {
	_, what := describe(e.ObjectType, e.ObjectID)
	at := e.Time.Sub(zero)
	return timeline.Segment{
		Kind: timeline.Refused, Label: fmt.Sprintf("%s: %d %s", what, e.HTTPStatus, e.ErrorCode), From: at, To: at,
		Note: fmt.Sprintf("%s refused with %d %s after %.2f s", what, e.HTTPStatus, e.ErrorCode, at.Seconds()),
	}
}

// describe names an object by kind and name.
func describe(objectType, id string) (timeline.Kind, string) {
	name := id[strings.LastIndexByte(id, '/')+1:]
	switch objectType[strings.LastIndexByte(objectType, '/')+1:] {
	case "resourceGroups":
		return timeline.Group, "group " + name
	case "virtualNetworks":
		return timeline.Network, "network " + name
	case "virtualMachines":
		return timeline.Machine, "machine " + name
	}
	return timeline.Subnet, "subnet " + name
}

// table prints the figures of results, one line per policy.
func table(out io.Writer, results []validation.Result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nscale\tseed\tpolicy\tsucceeded\trefused\tmakespan s\tcritical path s\tratio\t")
	for _, r := range results {
		for _, f := range r.Policies {
			ratio := 0.0
			if f.CriticalPathS > 0 {
				ratio = f.MakespanS / f.CriticalPathS
			}
			fmt.Fprintf(w, "%g\t%d\t%s\t%d/%d\t%d\t%.3f\t%.3f\t%.3f\t\n", r.Scale, r.Seed, f.Name, f.OK, f.Total, f.RefusedAtCloud, f.MakespanS, f.CriticalPathS, ratio)
		}
	}
	return w.Flush()
}
