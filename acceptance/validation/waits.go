// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// Wait is a time in which one call of a session waited for another session.
type Wait struct {
	Session, Address string
	From, To         time.Time
	// For names the actors in the way.
	For string
}

// holders are the other actors that a line blames, each once.
func holders(l lab.Line) string {
	var names []string
	for _, c := range l.Report.Conflicts {
		if c.Holder != nil && c.Holder.Actor != l.Report.Requester.Actor && !slices.Contains(names, c.Holder.Actor) {
			names = append(names, c.Holder.Actor)
		}
	}
	return strings.Join(names, " and ")
}

// waitsOf finds the waits that runs reported on their JSON output. Runs of plain
// Terraform have none.
func waitsOf(actor, output string) ([]Wait, error) {
	var waits []Wait
	open := make(map[string]int) // index into waits by transaction
	lines, err := lab.Lines(output)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", actor, err)
	}
	for _, l := range lines {
		n, waiting := open[l.Tx]
		switch {
		case l.Type == lab.LineAdmitted && waiting, l.Type == lab.LineConflict && waiting:
			waits[n].To = l.Time
			delete(open, l.Tx)
		case l.Type != lab.LineWait || l.Waited == nil || holders(l) == "":
		case waiting && waits[n].For == holders(l): // a reminder
		default:
			if waiting { // now for somebody else
				waits[n].To = l.Time
			}
			open[l.Tx] = len(waits)
			waits = append(waits, Wait{Session: actor, Address: l.Address, From: l.Time, To: l.Time, For: holders(l)})
		}
	}
	return waits, nil
}

// allWaits collects the waits of runs.
func allWaits(runs []*lab.Run) ([]Wait, error) {
	var all []Wait
	for _, r := range runs {
		waits, err := waitsOf(r.Actor, r.Stdout())
		if err != nil {
			return nil, err
		}
		all = append(all, waits...)
	}
	return all, nil
}
