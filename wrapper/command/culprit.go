// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// rulesError is a folder of rule packs that cannot be read.
type rulesError struct {
	Folder string
	Err    error
}

func (e *rulesError) Error() string { return fmt.Sprintf("rule packs in %s: %v", e.Folder, e.Err) }
func (e *rulesError) Unwrap() error { return e.Err }

// explainTo is explain for somebody who typed a command line: it names the
// option or the variable that the trouble came from, and which help to ask.
func explainTo(inv arguments.Invocation, err error) (views.Problem, int) {
	var (
		usage  *arguments.UsageError
		folder *rulesError
	)
	switch {
	case errors.As(err, &usage):
		return explainUsage(inv, usage), ExitSetup
	case errors.As(err, &folder):
		source := orElse(inv.Weaver.From["rules"], "TFWEAVER_RULES")
		return views.Problem{
			Summary: "The rule packs cannot be read",
			Detail: fmt.Sprintf("%s names the folder %s: %v.\n\nNothing was sent to the cloud. Correct %s, or leave it out to use the packs that come with tfweaver.",
				source, folder.Folder, folder.Err, source),
		}, ExitSetup
	}
	problem, code := explain(err)
	var connect *connectError
	if errors.As(err, &connect) {
		problem.Detail = singleDashes(problem.Detail)
	}
	problem.Detail = named(problem.Detail, "-weaver-coordinator or TFWEAVER_COORDINATOR", inv.Weaver.From["coordinator"])
	var pack *packError
	if errors.As(err, &pack) {
		problem.Detail = named(problem.Detail, "TFWEAVER_RULES", inv.Weaver.From["rules"])
	}
	return problem, code
}

// named puts the name that was used in the place of all that might have been.
func named(text, any, one string) string {
	if one == "" {
		return text
	}
	return strings.ReplaceAll(text, any, one)
}

// explainUsage points at the help that has the right option.
func explainUsage(inv arguments.Invocation, usage *arguments.UsageError) views.Problem {
	p := views.Problem{Summary: "Invalid tfweaver option", Detail: singleDashes(usage.Error())}
	ask := "tfweaver -help"
	if inv.Own {
		ask = "tfweaver " + inv.Command + " -help"
		p.Summary = "Invalid use of tfweaver " + inv.Command
	}
	p.Detail = strings.TrimRight(p.Detail, ".?") + ".\n\nRun \"" + ask + "\" for the options."
	return p
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
