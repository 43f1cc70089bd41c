// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// UnsettledError: what was read does not prove how the call ended, or not yet.
// It wraps admission.ErrUnsettled.
type UnsettledError struct {
	// Reason is a sentence without its full stop.
	Reason string
	// After is how long until a read may begin that settles the call; 0 when
	// that depends on what is read.
	After time.Duration
}

// Error is the reason, and when to read again.
func (e *UnsettledError) Error() string {
	text := fmt.Sprintf("%s: %s", admission.ErrUnsettled, e.Reason)
	if e.After > 0 {
		text += fmt.Sprintf(" (read again in %s)", e.After.Round(time.Second))
	}
	return text
}

// Unwrap is admission.ErrUnsettled.
func (e *UnsettledError) Unwrap() error { return admission.ErrUnsettled }

// unsettled reads an UnsettledError from the details of a status.
func unsettled(st *status.Status) *UnsettledError {
	e := &UnsettledError{Reason: st.Message()}
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			if because := d.GetMetadata()[coordinator.DetailBecause]; because != "" {
				e.Reason = because
			}
		case *errdetails.RetryInfo:
			e.After = d.GetRetryDelay().AsDuration()
		}
	}
	return e
}

// Moment says where the journal stands. Ask before a read begins whose result
// Settle, Measure or Observe will tell: what came after it is not in the read.
func (s *Session) Moment(ctx context.Context) (coordinator.Moment, error) {
	var out *weaverv1.MomentResponse
	err := s.call(ctx, func(ctx context.Context) (err error) {
		out, err = s.client.api.Moment(ctx, &weaverv1.MomentRequest{})
		return err
	})
	return coordinator.Moment{Index: out.GetIndex(), At: out.GetAt()}, err
}

// Unsettled lists the calls with an unknown outcome that are in the way of one
// of the session's own transactions, which waits or was refused.
func (s *Session) Unsettled(ctx context.Context, tx admission.TxID) ([]coordinator.Unsettled, error) {
	var out *weaverv1.UnsettledResponse
	err := s.call(ctx, func(ctx context.Context) (err error) {
		out, err = s.client.api.Unsettled(ctx, &weaverv1.UnsettledRequest{Tx: string(tx)})
		return err
	})
	if err != nil {
		return nil, err
	}
	return readAll[coordinator.Unsettled]("an unsettled call", out.GetCalls())
}

// Settle reports what was read of the object of a call with an unknown outcome,
// whosever call that is. The read's Tx, Began and BeganAt (a Moment), Exists
// and Terminal have to be set; the rest is the coordinator's. What does not
// settle the call is an *UnsettledError. A call that was settled meanwhile, with
// the same result, is no error.
func (s *Session) Settle(ctx context.Context, read admission.Settle) error {
	return s.call(ctx, func(ctx context.Context) error {
		_, err := s.client.api.Settle(ctx, &weaverv1.SettleRequest{
			Tx: string(read.Tx), Began: read.Began, BeganAt: read.BeganAt,
			Exists: read.Exists, Terminal: read.Terminal, Digest: read.Digest,
		})
		return err
	})
}

// Senders names processes that may send calls in the name of the session, such
// as the provider plugins; the process that is connected counts anyway. It adds
// to what was named before, and has to return before the first Start of a call
// that one of them sends: the coordinator believes the session dead once all
// that it knows of are dead. A session that sends by itself alone says so by
// naming nobody, and one that does not know a sender names it without a start.
// Over a network the coordinator cannot look, and makes nothing
// of it.
func (s *Session) Senders(ctx context.Context, processes []coordinator.Process) error {
	in := &weaverv1.SendersRequest{}
	for _, p := range processes {
		in.Processes = append(in.Processes, &weaverv1.Process{Pid: int64(p.PID), Started: p.Started})
	}
	return s.call(ctx, func(ctx context.Context) error {
		_, err := s.client.api.Senders(ctx, in)
		return err
	})
}

// readAll reads payloads that are the JSON form of one type.
func readAll[T any](what string, payloads [][]byte) ([]T, error) {
	list := make([]T, len(payloads))
	for i, data := range payloads {
		if err := json.Unmarshal(data, &list[i]); err != nil {
			return nil, fmt.Errorf("read %s: %w", what, err)
		}
	}
	return list, nil
}
