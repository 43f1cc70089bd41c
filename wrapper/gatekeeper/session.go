// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// coordinated is a session of the client as a [Session].
type coordinated struct{ *client.Session }

// Coordinated makes a client's session usable by a gatekeeper.
func Coordinated(s *client.Session) Session { return coordinated{s} }

// Submit implements Session.
func (c coordinated) Submit(ctx context.Context, r admission.Request, resubmit admission.TxID, onWait func(client.Waiting)) (Grant, error) {
	grant, err := c.Session.Submit(ctx, r, resubmit, onWait)
	if err != nil {
		return nil, err
	}
	return grant, nil
}
