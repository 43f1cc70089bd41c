// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package validation

import (
	"encoding/json"
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

// line is the part of a line of "tfweaver apply -json" that tells of a wait.
type line struct {
	Type    string    `json:"type"`
	Time    time.Time `json:"@timestamp"`
	Address string    `json:"address"`
	Tx      string    `json:"tx"`
	// Waited is set where a call waits; a forecast of a wait has none.
	Waited *float64 `json:"waited"`
	Report struct {
		Requester struct {
			Actor string `json:"actor"`
		} `json:"requester"`
		Conflicts []struct {
			Holder *struct {
				Actor string `json:"actor"`
			} `json:"holder"`
		} `json:"conflicts"`
	} `json:"report"`
}

// holders are the other actors that a line blames, each once.
func (l line) holders() string {
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
	for text := range strings.Lines(output) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			return nil, fmt.Errorf("%s: output line %q: %w", actor, strings.TrimSpace(text), err)
		}
		n, waiting := open[l.Tx]
		switch {
		case l.Type == "weaver_admitted" && waiting, l.Type == "weaver_conflict" && waiting:
			waits[n].To = l.Time
			delete(open, l.Tx)
		case l.Type != "weaver_wait" || l.Waited == nil || l.holders() == "":
		case waiting && waits[n].For == l.holders(): // a reminder
		default:
			if waiting { // now for somebody else
				waits[n].To = l.Time
			}
			open[l.Tx] = len(waits)
			waits = append(waits, Wait{Session: actor, Address: l.Address, From: l.Time, To: l.Time, For: l.holders()})
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
