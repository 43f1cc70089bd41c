// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package experiment

import (
	"fmt"
	"strings"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// Result is what came of a round.
type Result struct {
	Round       int     `json:"round"`
	Seed        uint64  `json:"seed"`
	Coordinated bool    `json:"coordinated"`
	CreateFirst bool    `json:"create_first"`
	Saved       bool    `json:"saved"`
	LeadS       float64 `json:"lead_s"`
	// First is the actor whose call the cloud accepted first.
	First string `json:"first"`
	// Overlap is true when the second one began before the first one had ended.
	Overlap bool `json:"overlap"`
	// Exits are the exit codes.
	Exits map[string]int `json:"exits"`
	// Lost is true when both ended with 0: one of the purposes is lost, and nobody
	// was told.
	Lost bool `json:"lost"`
	// Whole are the actors that did all that they had planned, to the machine that
	// they had planned it for.
	Whole []string `json:"whole"`
	// Stray counts the calls that were made for another life of the machine than
	// the one that was planned for.
	Stray int `json:"stray"`
	// Replan is true when the loser was told to plan again, Attributed when the
	// first thing that it was told names the purpose of the other one.
	Replan     bool     `json:"replan"`
	Attributed bool     `json:"attributed"`
	TookS      float64  `json:"took_s"`
	Broken     []string `json:"broken,omitempty"`
}

func (r *Result) broke(format string, args ...any) {
	r.Broken = append(r.Broken, fmt.Sprintf(format, args...))
}

// judge finds out what came of the round. What must not be is broken only where
// the runs were coordinated.
func (p *play) judge(log activity.Log, lines map[string][]lab.Line) Result {
	r := Result{
		Round: p.round.Number, Seed: p.round.Seed, Coordinated: p.round.Coordinated, CreateFirst: p.round.CreateFirst,
		Saved: p.round.Saved, LeadS: p.round.Lead.Seconds(), Exits: make(map[string]int),
	}
	for actor, run := range p.runs {
		r.Exits[actor] = run.ExitCode
	}
	r.Overlap = p.begun[Replacer].Before(p.runs[Destroyer].Ended) && p.begun[Destroyer].Before(p.runs[Replacer].Ended)
	r.Lost = r.Exits[Replacer] == 0 && r.Exits[Destroyer] == 0
	r.readLog(log, p.round.CreateFirst)
	if p.round.Coordinated {
		p.judgeLoser(&r, lines)
		r.demand(log)
	}
	return r
}

// readLog takes from the log who came first, who did all, and what went astray.
func (r *Result) readLog(log activity.Log, createFirst bool) {
	planned := ""
	for _, o := range log.Operations {
		if o.Actor == owner {
			planned = o.UID // of the machine alone: the group is furniture
		}
	}
	for _, o := range log.Operations {
		if o.Actor != Replacer && o.Actor != Destroyer {
			continue
		}
		if r.First == "" {
			r.First = o.Actor
		}
		if o.UID != planned && !o.Creates {
			r.Stray++
		}
	}
	for _, e := range log.NoOps {
		if e.Actor == Replacer || e.Actor == Destroyer {
			r.Stray++
		}
	}
	if did(log, Destroyer, "DELETE", oldName, planned) {
		r.Whole = append(r.Whole, Destroyer)
	}
	made := oldName
	if createFirst {
		made = newName
	}
	if did(log, Replacer, "DELETE", oldName, planned) && did(log, Replacer, "PUT", made, "") {
		r.Whole = append(r.Whole, Replacer)
	}
}

// did says whether an actor's call succeeded, for one life of the machine or, if
// that is empty, for one that the call began.
func did(log activity.Log, actor, method, name, life string) bool {
	for _, o := range log.Operations {
		right := o.UID == life || life == "" && o.Creates
		if o.Actor == actor && o.Method == method && lab.Is(o, "virtualMachines", name) && right && o.Result == activity.Succeeded {
			return true
		}
	}
	return false
}

// demand says what a coordinated round must be like.
func (r *Result) demand(log activity.Log) {
	if r.Lost {
		r.broke("both ended with exit code 0")
	}
	if r.Stray > 0 {
		r.broke("%d calls were made for a machine that nobody had planned for", r.Stray)
	}
	if len(r.Whole) != 1 || r.Exits[r.Whole[0]] != 0 {
		r.broke("one of the two must do all that it planned and end with 0: whole are %v, exit codes %v", r.Whole, r.Exits)
	}
	for _, e := range log.Refused {
		r.broke("the cloud refused %s of %s: %s", e.Method, e.Actor, e.ErrorCode)
	}
	if !r.Replan {
		r.broke("the second one was not told to plan again")
	}
	if !r.Attributed {
		r.broke("the first thing that the second one was told does not name the purpose of the first")
	}
}

// judgeLoser reads what the one was told that did not do all.
func (p *play) judgeLoser(r *Result, lines map[string][]lab.Line) {
	if len(r.Whole) != 1 {
		return
	}
	loser := other(r.Whole[0])
	run := p.runs[loser]
	for _, said := range []string{"plan again", "out of date", `"replan"`} {
		r.Replan = r.Replan || strings.Contains(plainly(run.Said()), said)
	}
	first := firstTold(run.Stderr())
	if p.round.Saved {
		first = firstReport(lines[loser])
	}
	r.Attributed = strings.Contains(first, purposeOf(r.Whole[0]))
}

// firstReport is the purpose that the first report among lines names.
func firstReport(lines []lab.Line) string {
	for _, l := range lines {
		if l.Type != lab.LineWait && l.Type != lab.LineConflict {
			continue
		}
		for _, c := range l.Report.Conflicts {
			if c.Holder != nil {
				return c.Holder.Objective
			}
		}
		return ""
	}
	return ""
}

// firstTold is the first paragraph or box that tells of waiting or of a refusal.
func firstTold(text string) string {
	for _, block := range blocks(text) {
		for _, word := range []string{"waits", "wait for", "refused", "out of date"} {
			if strings.Contains(block, word) {
				return block
			}
		}
	}
	return ""
}

// blocks are the boxes of a text, and what stands between them, each as one line.
func blocks(text string) (found []string) {
	text = strings.ReplaceAll(text, "\u2577", "\u2575")
	for block := range strings.SplitSeq(text, "\u2575") {
		if line := plainly(block); line != "" {
			found = append(found, line)
		}
	}
	return found
}

// plainly undoes the line breaks and the frames of messages.
func plainly(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\u2502", " ")), " ")
}
