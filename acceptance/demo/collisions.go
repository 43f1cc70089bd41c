// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/experiment"
	"github.com/tfweaver/tfweaver/acceptance/fleet"
	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/timeline"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

const collisionsSubtitle = "From the simulated cloud\u2019s own activity log; waits and refusals as tfweaver reported them"

// collisionPanel draws a round of destroy versus replace.
func collisionPanel(name string, p experiment.Played) timeline.Panel {
	summary := "both exit codes are 0: one purpose is lost, and nobody was told"
	switch {
	case !p.Lost && len(p.Whole) == 1:
		summary = fmt.Sprintf("only the %s did what it had planned", p.Whole[0])
	case !p.Lost:
		summary = "nobody did all that it had planned"
	}
	actors := []string{experiment.Replacer, experiment.Destroyer}
	panel := timeline.Panel{Title: name + ": one replaces a machine, one destroys it", Summary: summary}
	zero := firstOf(p.Log, actors)
	for _, actor := range actors {
		lane := timeline.Lane{Name: actor, Segments: toldSegments(p.Lines[actor], zero)}
		for _, o := range p.Log.Operations {
			if o.Actor == actor {
				lane.Segments = append(lane.Segments, machineSegment(o, zero))
				panel.End = max(panel.End, o.End.Sub(zero))
			}
		}
		for _, e := range p.Log.NoOps {
			if e.Actor == actor {
				lane.Segments = append(lane.Segments, timeline.Segment{
					Kind: timeline.Refused, Label: "deletes what is gone already", From: e.Time.Sub(zero), To: e.Time.Sub(zero),
				})
			}
		}
		panel.Lanes = append(panel.Lanes, inOrder(lane))
	}
	return panel
}

// fleetPanel draws the machines of both fleets, one lane each.
func fleetPanel(t fleet.Trace) timeline.Panel {
	actors := []string{fleet.Web, fleet.Batch}
	panel := timeline.Panel{
		Title:   t.Name + ": twelve and twelve processors of twenty",
		Summary: fmt.Sprintf("%d whole, %d half a fleet, %d refused by the cloud", t.Whole, t.Half, t.RefusedAtCloud),
	}
	zero := firstOf(t.Log, actors)
	for _, actor := range actors {
		for n := range 3 {
			name := fmt.Sprintf("%s-%d", actor, n)
			lane := timeline.Lane{Name: name}
			if n == 0 {
				lane.Segments = toldSegments(t.Lines[actor], zero)
			}
			for _, o := range t.Log.Operations {
				if lab.Is(o, "virtualMachines", name) {
					lane.Segments = append(lane.Segments, machineSegment(o, zero))
					panel.End = max(panel.End, o.End.Sub(zero))
				}
			}
			for _, e := range t.Log.Refused {
				if strings.HasSuffix(e.ObjectID, "/"+name) {
					lane.Segments = append(lane.Segments, refusedSegment(e, zero))
				}
			}
			panel.Lanes = append(panel.Lanes, inOrder(lane))
		}
	}
	return panel
}

// firstOf is when the first of the actors' operations began.
func firstOf(log activity.Log, actors []string) time.Time {
	for _, o := range log.Operations {
		if slices.Contains(actors, o.Actor) {
			return o.Start
		}
	}
	return time.Time{}
}

func machineSegment(o activity.Operation, zero time.Time) timeline.Segment {
	name := o.ObjectID[strings.LastIndexByte(o.ObjectID, '/')+1:]
	s := timeline.Segment{Kind: timeline.Machine, Label: "makes " + name, From: o.Start.Sub(zero), To: o.End.Sub(zero)}
	if o.Method == "DELETE" {
		s.Kind, s.Label = timeline.Removal, "deletes "+name
	}
	if o.Incarnation > 0 {
		s.Note = fmt.Sprintf("%s, life %d, %.2f s: %s", s.Label, o.Incarnation, o.Duration().Seconds(), o.Result)
	}
	if o.Result != activity.Succeeded {
		s.Kind = timeline.Broken
	}
	return s
}

// toldSegments are the wait of a run, from its first line to the refusal or the
// admission, and the refusal.
func toldSegments(lines []lab.Line, zero time.Time) (segments []timeline.Segment) {
	var waiting *timeline.Segment
	for _, l := range lines {
		at := max(l.Time.Sub(zero), 0)
		switch {
		case l.Type == lab.LineWait && l.Waited != nil && waiting == nil:
			waiting = &timeline.Segment{Kind: timeline.Waiting, Label: "waits for " + holderOf(l), From: at, Note: l.Message}
		case l.Type == lab.LineAdmitted, l.Type == lab.LineConflict:
			if waiting != nil {
				waiting.To = at
				segments, waiting = append(segments, *waiting), nil
			}
			if l.Type == lab.LineConflict {
				segments = append(segments, timeline.Segment{Kind: timeline.Spared, Label: "refused before the cloud", From: at, To: at, Note: l.Message})
			}
		}
	}
	return segments
}

// holderOf is who is in the way.
func holderOf(l lab.Line) string {
	for _, c := range l.Report.Conflicts {
		if c.Holder != nil {
			return c.Holder.Actor
		}
	}
	return "others"
}

func inOrder(l timeline.Lane) timeline.Lane {
	slices.SortStableFunc(l.Segments, func(a, b timeline.Segment) int { return cmp.Compare(a.From, b.From) })
	return l
}
