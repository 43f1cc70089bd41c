// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/status"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

// refuse answers a change that was not sent: the object is as it was before,
// and an error says why. Nothing is answered to a CLI that hung up, and a
// provider that cannot be reached looks as it would without the proxy.
func (x *exchange) refuse(ctx context.Context, req message, cause error) (*frame, error) {
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	if errors.Is(cause, plugins.ErrCrashed) {
		return nil, unavailable(ctx, cause)
	}
	answer, err := newMessage(x.conn.provider.pkg, "ApplyResourceChange.Response")
	if err != nil {
		return nil, err
	}
	x.restore(req, answer)
	diagnose(answer, refusalOf(cause))
	return answer.encode()
}

// restore makes an answer say that nothing has changed. What the CLI is not
// given back is wiped from the state: private data and identity included.
func (x *exchange) restore(req, answer message) {
	state, set := req.sub("prior_state")
	if set {
		answer.setSub("new_state", state)
	}
	before := x.conn.provider.plans.recall(req)
	answer.setBytes("private", before.private)
	if before.identity.Message != nil {
		answer.setSub("new_identity", before.identity)
	}
}

// refusalOf makes a refusal of any reason.
func refusalOf(cause error) *Refusal {
	var refusal *Refusal
	switch {
	case errors.As(cause, &refusal):
		return refusal
	case errors.Is(cause, errStopped):
		return &Refusal{Summary: "Interrupted", Detail: "The run was interrupted before this change was sent to the provider. Nothing was changed."}
	default:
		return &Refusal{Summary: "Change not sent to the provider", Detail: fmt.Sprintf("%v. Nothing was changed.", cause)}
	}
}

// diagnose adds a refusal to an answer as an error diagnostic.
func diagnose(answer message, refusal *Refusal) {
	d := answer.add("diagnostics")
	severity := d.field("severity")
	d.Set(severity, enumValue(severity, "ERROR"))
	d.setText("summary", refusal.Summary)
	d.setText("detail", refusal.Detail)
	if refusal.Attribute == "" {
		return
	}
	path := message{d.Mutable(d.field("attribute")).Message()}
	path.add("steps").setText("attribute_name", refusal.Attribute)
}
