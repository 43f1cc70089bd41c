// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// documented fills in what the rules are for: the coordinator has no packs.
func (g *Gatekeeper) documented(report conflict.Report) conflict.Report {
	report.Conflicts = slices.Clone(report.Conflicts)
	for i, c := range report.Conflicts {
		if c.RuleID != "" && c.RuleDoc == "" {
			report.Conflicts[i].RuleDoc = g.engine.Doc(c.RuleID)
		}
	}
	return report
}

// named is a report that says what it is about, also where the coordinator was
// not told: a run without a readable plan knows no address.
func named(report conflict.Report, name string) conflict.Report {
	if report.Address == "" && report.Action != string(admission.Reserve) {
		report.Address = name
	}
	return report
}

// reject is the coordinator's refusal. The detail must carry everything:
// Terraform drops the address of a refused delete.
func (g *Gatekeeper) reject(a *admittance, report conflict.Report) error {
	a.watch().abandoned()
	report = named(g.documented(report), a.name())
	own := ownState(report)
	g.noteRefused(views.Refused{Address: a.name(), Report: &report, OwnState: own})
	return &intercept.Refusal{Summary: title(report, own), Detail: detail(a, report)}
}

// giveUp is a wait that took too long. It tells how things are by now.
func (g *Gatekeeper) giveUp(a *admittance) error {
	a.watch().abandoned()
	reason := fmt.Sprintf("it waited %s for other sessions, as long as -weaver-wait allows", g.config.Wait.Round(time.Second))
	report := a.lastReport()
	g.noteRefused(views.Refused{Address: a.name(), Reason: reason, Report: report})
	refusal := &intercept.Refusal{Summary: a.subject() + " refused: waited too long for another session"}
	refusal.Detail = a.spared() + ": " + reason + "."
	if report == nil {
		refusal.Detail += " Nothing was changed. Run the command again."
		return refusal
	}
	refusal.Detail += inTheWay(*report) + "\nNothing was changed. Run the command again later, or let it wait longer with -weaver-wait; " +
		"`tfweaver why " + report.ID + "` for more."
	return refusal
}

// inTheWay says what a wait was for when it ended, since when, and what would
// end what does not end by itself.
func inTheWay(report conflict.Report) string {
	report.Wait = nil // the place in the queue is given up
	sentence, next := views.Told(report)
	_, reason, ok := strings.Cut(sentence, ": ")
	if !ok {
		return ""
	}
	text := "\nStill in the way: " + reason
	if strings.Contains(next, "tfweaver resolve") {
		text += "\n" + next
	}
	return text
}

// fail is everything else: the coordinator is gone, or the rules do not fit.
func (g *Gatekeeper) fail(a *admittance, err error) error {
	a.watch().abandoned()
	reason := strings.TrimSuffix(err.Error(), ".")
	remedy := ""
	switch {
	case errors.Is(err, client.ErrSessionEnded), errors.Is(err, client.ErrWithdrawn):
		remedy = " Another session may have been admitted meanwhile. Run the command again."
	}
	if unreachable(err) {
		remedy = " Run the command again when the coordinator is back. With -weaver-offline=allow a run goes on uncoordinated instead."
	}
	g.noteRefused(views.Refused{Address: a.name(), Reason: reason})
	return &intercept.Refusal{
		Summary: a.subject() + " not sent: no admission from the coordinator",
		Detail:  fmt.Sprintf("%s: %s. Nothing was changed.%s", a.spared(), reason, remedy),
	}
}

// subject is what was refused, at the beginning of a title.
func (a *admittance) subject() string {
	if a.whole {
		return "Plan"
	}
	return "Change"
}

// spared says that nothing was done.
func (a *admittance) spared() string {
	if a.whole {
		return wholePlan + " was not applied"
	}
	return a.name() + " was not sent to the provider"
}

// lastReport is the report of the last decision, nil when there was none.
func (a *admittance) lastReport() *conflict.Report {
	if a.petition == nil {
		return nil
	}
	return a.petition.lastReport()
}

func (g *Gatekeeper) noteRefused(r views.Refused) {
	g.ledger.refused(r)
	g.view.Refused(r)
}

// detail is the text of a report, with the address in front where the text
// does not name it. Terraform breaks lines by itself; the hint stays on a line
// of its own.
func detail(a *admittance, report conflict.Report) string {
	text, hint := views.Told(report)
	text += known(report)
	if a.gate.config.Wait == 0 {
		text, hint = views.ToWait(text), views.ToWait(hint)
	}
	if hint != "" {
		text += "\n" + hint
	}
	if !strings.Contains(text, a.name()) {
		text = a.name() + ": " + text
	}
	return text
}

// known says how old the facts are that a refusal is based on.
func known(report conflict.Report) string {
	oldest, any := 0.0, false
	for _, c := range report.Conflicts {
		if c.Fact != nil && c.Fact.Age >= 1 {
			oldest, any = max(oldest, c.Fact.Age), true
		}
	}
	if !any {
		return ""
	}
	return fmt.Sprintf(" That was last seen %s ago.", time.Duration(oldest*float64(time.Second)).Round(time.Second))
}
