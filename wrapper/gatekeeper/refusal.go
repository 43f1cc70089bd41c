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

// reject is the coordinator's refusal. The detail must carry everything:
// Terraform drops the address of a refused delete.
func (g *Gatekeeper) reject(a *admittance, report conflict.Report) error {
	a.watch.abandoned()
	report = g.documented(report)
	g.noteRefused(views.Refused{Address: a.name(), Report: &report})
	summary := "Change refused: it conflicts with another session"
	if report.Decision == conflict.Replan {
		summary = "Change refused: the plan is out of date"
	}
	return &intercept.Refusal{Summary: summary, Detail: detail(a, report)}
}

// giveUp is a wait that took too long.
func (g *Gatekeeper) giveUp(a *admittance) error {
	a.watch.abandoned()
	reason := fmt.Sprintf("it waited %s for another session, as long as -weaver-wait allows", g.wait.Round(time.Second))
	report := a.lastReport()
	g.noteRefused(views.Refused{Address: a.name(), Reason: reason, Report: report})
	refusal := &intercept.Refusal{Summary: "Change refused: waited too long for another session"}
	refusal.Detail = a.name() + " was not sent: " + reason + ". Nothing was changed."
	if report != nil {
		refusal.Detail = detail(a, *report) + "\n\n" + refusal.Detail
	}
	return refusal
}

// fail is everything else: the coordinator is gone, or the rules do not fit.
func (g *Gatekeeper) fail(a *admittance, err error) error {
	a.watch.abandoned()
	reason := strings.TrimSuffix(err.Error(), ".")
	remedy := ""
	switch {
	case errors.Is(err, client.ErrSessionEnded), errors.Is(err, client.ErrWithdrawn):
		remedy = " Another session may have been admitted meanwhile. Run the command again."
	case errors.Is(err, client.ErrUnreachable):
		remedy = " Run the command again when the coordinator is back."
	}
	g.noteRefused(views.Refused{Address: a.name(), Reason: reason})
	return &intercept.Refusal{
		Summary: "Change not sent: no admission from the coordinator",
		Detail:  fmt.Sprintf("%s was not sent to the provider: %s. Nothing was changed.%s", a.name(), reason, remedy),
	}
}

func (g *Gatekeeper) noteRefused(r views.Refused) {
	g.ledger.refused(r)
	g.view.Refused(r)
}

// detail is the text of a report, with the address in front where the text
// does not name it. Terraform breaks lines by itself, so what was one sentence
// becomes one again; the hint stays on its own line.
func detail(a *admittance, report conflict.Report) string {
	lines := strings.Split(strings.TrimRight(conflict.Text(report), "\n"), "\n")
	text := lines[0]
	if last := len(lines) - 1; last > 0 {
		text = strings.Join(lines[:last], " ") + "\n" + lines[last]
	}
	if a.op.Address != "" && !strings.Contains(text, a.op.Address) {
		text = a.op.Address + ": " + text
	}
	return text
}
