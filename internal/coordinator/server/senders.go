// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"context"
	"fmt"
	"math"
	"net"

	"google.golang.org/grpc/peer"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/liveness"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// maxStarted bounds the text of a process's start.
const maxStarted = 128

// opened records the process of a new session. Where that is not known, nothing
// will ever be concluded from its death.
func (s *Server) opened(ctx context.Context, id admission.SessionID) {
	v := visitorOf(ctx)
	if v.network || !v.known {
		return
	}
	if err := s.kin.Opened(id, v.process); err != nil {
		s.log.Warn("the process of a session is not on file", "session", id, "error", err)
	}
}

// Senders adds to the processes of the caller's session.
func (s *Server) Senders(ctx context.Context, in *weaverv1.SendersRequest) (*weaverv1.SendersResponse, error) {
	id, err := s.session(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	senders, foreign, err := readSenders(in)
	if err != nil {
		return nil, toStatus(err)
	}
	v := visitorOf(ctx)
	if v.network || !v.known || !liveness.SameNumbers(v.process.PID) {
		// Its numbers mean nothing here, so its death is never concluded.
		return &weaverv1.SendersResponse{}, nil
	}
	if foreign {
		// Neither do they where the socket is forwarded from another machine,
		// and what connected is not the wrapper.
		s.kin.Disown(id)
		return &weaverv1.SendersResponse{}, nil
	}
	if _, err := s.kin.Name(id, senders); err != nil {
		return nil, toStatus(fmt.Errorf("%w: %w", coordinator.ErrUnavailable, err))
	}
	return &weaverv1.SendersResponse{}, nil
}

// readSenders reads the processes; foreign is true when one is of another
// machine.
func readSenders(in *weaverv1.SendersRequest) (list []coordinator.Process, foreign bool, err error) {
	if n := len(in.GetProcesses()); n > liveness.MaxSenders {
		return nil, false, fmt.Errorf("%w: %d processes where %d are allowed", errInput, n, liveness.MaxSenders)
	}
	for _, p := range in.GetProcesses() {
		if p.GetPid() <= 0 || p.GetPid() > math.MaxInt32 || len(p.GetStarted()) > maxStarted {
			return nil, false, fmt.Errorf("%w: process %d, started %.130q", errInput, p.GetPid(), p.GetStarted())
		}
		placed, far := liveness.Place(coordinator.Process{PID: int(p.GetPid()), Started: p.GetStarted()})
		list, foreign = append(list, placed), foreign || far
	}
	return list, foreign, nil
}

// identity is what the coordinator says of how it knows a session.
func identity(v visitor) string {
	if v.network {
		return coordinator.IdentityClaimed
	}
	return coordinator.IdentityLocal
}

// remote is where a call came from, for the log.
func remote(ctx context.Context) net.Addr {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr
	}
	return nil
}
