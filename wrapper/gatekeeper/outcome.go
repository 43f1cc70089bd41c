// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

func (p *permit) outcome(o intercept.Outcome) client.Outcome {
	out := client.Outcome{Exists: p.left(o)}
	result := o.Result
	stopped := result == intercept.Failed && gaveUp(o.Diagnostics)
	if stopped {
		result = intercept.Unknown
	}
	switch result {
	case intercept.Succeeded:
		out.Result = admission.Succeeded
	case intercept.Failed:
		out.Result = admission.Errored
	case intercept.NotSent:
		out.Result = admission.NotSent
		return out
	default:
		out.Result, out.Exists = admission.Lost, exists(o.NewState)
		p.lost(stopped)
		return out
	}
	if exists(o.NewState) {
		p.describe(&out, o.NewState)
	}
	return out
}

// left says whether the object is there after a call. An answer without a state
// that reports errors, and a call that was not sent, leave what there was.
func (p *permit) left(o intercept.Outcome) bool {
	if there, known := o.Left(); known {
		return there
	}
	return p.op.Action != admission.Create
}

// gaveUp says whether a provider's error only means that it stopped waiting,
// because it was interrupted or ran out of time: the cloud may have accepted
// the call and still be at it.
func gaveUp(diagnostics []intercept.Diagnostic) bool {
	for _, d := range diagnostics {
		if !d.Error {
			continue
		}
		for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
			if strings.Contains(d.Summary, cause.Error()) || strings.Contains(d.Detail, cause.Error()) {
				return true
			}
		}
	}
	return false
}

// describe adds the digest, and the id where only the cloud knew it.
func (p *permit) describe(out *client.Outcome, state cty.Value) {
	if p.call.Schema != nil {
		out.Digest = p.gate.engine.Digest(state, sensitive(p.call.Schema))
	}
	if p.op.Action != admission.Create {
		return
	}
	self, _, err := p.gate.engine.SelfID(p.op, state)
	if err != nil {
		p.gate.log.Warn("id of a new object not understood", "address", p.op.Address, "error", err)
		return
	}
	if self.ID != "" && self.ID != p.request.Self {
		out.BindID, out.BindParent, out.BindType = string(self.ID), string(self.Parent), self.Type
	}
}

func exists(state cty.Value) bool { return state != cty.NilVal && !state.IsNull() }
