// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// maxDigest bounds the digest of what was read.
const maxDigest = 256

// Moment says where the journal stands.
func (s *Server) Moment(ctx context.Context, _ *weaverv1.MomentRequest) (*weaverv1.MomentResponse, error) {
	if _, err := s.session(ctx); err != nil {
		return nil, toStatus(err)
	}
	m, err := s.c.Moment(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	return &weaverv1.MomentResponse{Index: m.Index, At: m.At}, nil
}

// Unsettled lists what is uncertain and in the way of one of the caller's own
// transactions.
func (s *Server) Unsettled(ctx context.Context, in *weaverv1.UnsettledRequest) (*weaverv1.UnsettledResponse, error) {
	id, err := s.session(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	list, err := s.c.Unsettled(ctx, id, admission.TxID(in.GetTx()))
	if err != nil {
		return nil, toStatus(err)
	}
	out := &weaverv1.UnsettledResponse{}
	for _, u := range list {
		data, err := json.Marshal(u)
		if err != nil {
			return nil, toStatus(fmt.Errorf("write an unsettled call: %w", err))
		}
		out.Calls = append(out.Calls, data)
	}
	return out, nil
}

// Settle takes over what the caller read of an uncertain call's object.
func (s *Server) Settle(ctx context.Context, in *weaverv1.SettleRequest) (*weaverv1.SettleResponse, error) {
	id, err := s.session(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	if err := limit([]string{in.GetTx(), in.GetDigest()}, 2, maxDigest); err != nil {
		return nil, toStatus(err)
	}
	read := admission.Settle{
		Tx: admission.TxID(in.GetTx()), Began: in.GetBegan(), BeganAt: in.GetBeganAt(),
		Exists: in.GetExists(), Terminal: in.GetTerminal(), Digest: in.GetDigest(),
	}
	if err := s.c.Settle(ctx, id, read); err != nil {
		return nil, s.unsettled(err)
	}
	s.log.Info("settled by a read", "tx", in.GetTx(), "session", id, "exists", in.GetExists())
	return &weaverv1.SettleResponse{}, nil
}

// unsettled is toStatus with the time that is left until a read may settle the
// call.
func (s *Server) unsettled(err error) error {
	return toStatusAt(err, func(at int64) time.Duration {
		return time.Until(time.Unix(0, at))
	})
}
