// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"context"
	"fmt"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// Modes of passing. What is merely observed asks for that when it is submitted.
const (
	wait     = "wait"
	offline  = "offline"
	override = "override"
)

// Pass lets one of the caller's own transactions go on without its locks.
func (s *Server) Pass(ctx context.Context, in *weaverv1.PassRequest) (*weaverv1.Decision, error) {
	id, err := s.session(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	pass, err := readPass(in)
	if err != nil {
		return nil, toStatus(err)
	}
	d, err := s.c.Pass(ctx, id, admission.TxID(in.GetTx()), pass)
	if err != nil {
		return nil, toStatus(err)
	}
	s.log.Warn("passed without its locks", "tx", in.GetTx(), "session", id, "mode", pass.Mode, "by", pass.By)
	return decision(d)
}

func readPass(in *weaverv1.PassRequest) (admission.Pass, error) {
	p := admission.Pass{Mode: in.GetMode(), By: in.GetBy(), Reason: in.GetReason(), Of: admission.TxID(in.GetOf())}
	if err := limit([]string{in.GetTx(), p.By, string(p.Of)}, 3, maxName); err != nil {
		return p, err
	}
	if err := limit([]string{p.Reason}, 1, maxObjective); err != nil {
		return p, err
	}
	switch p.Mode {
	case wait, offline:
		return p, nil
	case override:
		if p.By == "" || p.Reason == "" {
			return p, fmt.Errorf("%w: an override needs a name and a reason", errInput)
		}
		return p, nil
	default:
		return p, fmt.Errorf("%w: there is no passing in mode %q", errInput, p.Mode)
	}
}
