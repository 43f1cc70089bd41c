// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"errors"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

// errWithin: the run that started this one works on the same state, and goes on
// only when this one has ended.
var errWithin = errors.New("the run that started this one works on that state, and waits for this one to end")

// within says whether nothing is in the way of a request but what the runs hold
// that started this one, such as from a provisioner. They go on only when this
// run has ended, so that it would wait for itself. A call of theirs that is on its
// way ends by itself, and is waited for.
func (g *Gatekeeper) within(report conflict.Report) bool {
	if len(g.config.Within) == 0 || len(report.Conflicts) == 0 {
		return false
	}
	return !slices.ContainsFunc(report.Conflicts, func(c conflict.Conflict) bool {
		h := c.Holder
		return h == nil || h.State == conflict.Running && !h.Claim || !slices.Contains(g.config.Within, h.Session)
	})
}

// part lets a request go on as a part of the run that started this one.
func part() admission.Pass {
	return admission.Pass{Mode: string(Wait), Reason: "it is a part of the run that holds it, which started this one"}
}
