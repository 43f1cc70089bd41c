// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// parting is how long a withdrawal may take once the caller has given up.
const parting = 5 * time.Second

// Submit asks for admission and blocks until it is decided. onWait, which may
// be nil, is called in between, from this goroutine.
//
// The errors are *RejectedError, *StaleError (lower the plan anew and pass its
// Tx as resubmit), ErrWithdrawn and ErrSessionEnded. When ctx ends, the
// request is withdrawn; with ErrImpatient among the causes of that, reports say
// that it was refused. While the coordinator cannot be reached, the same
// request is put again until the lease is over.
//
// A request with Key 0 gets a key; a resubmitted one the key it had.
//
// The grant of a Reserve is not started: it holds until Withdraw or the end of
// the session.
func (s *Session) Submit(ctx context.Context, request admission.Request, resubmit admission.TxID, onWait func(Waiting)) (*Grant, error) {
	request.Session = admission.SessionID(s.id)
	request.Key = s.key(request.Key, resubmit)
	data, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("write the request for %s: %w", request.Address, err)
	}
	w := &submission{
		session: s, onWait: onWait,
		in: &weaverv1.SubmitRequest{Request: &weaverv1.Request{Json: data}, Tx: string(resubmit)},
	}
	var d *weaverv1.Decision
	err = s.converse(ctx, func(ctx context.Context) (err error) {
		d, err = w.decide(ctx)
		return err
	})
	switch {
	case err == nil:
		return s.settle(d, request.Key)
	case ctx.Err() != nil:
		w.giveUp(ctx)
		return nil, ctx.Err()
	default:
		return nil, err
	}
}

// key is the idempotency key of a request.
func (s *Session) key(given uint64, resubmit admission.TxID) uint64 {
	if given != 0 {
		return given
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if had := s.stale[resubmit]; had != 0 {
		return had
	}
	return firstKey + s.keys.Add(1)
}

// settle turns the final decision into what the caller gets.
func (s *Session) settle(d *weaverv1.Decision, key uint64) (*Grant, error) {
	tx := admission.TxID(d.GetTx())
	switch status := admission.Status(d.GetStatus()); status {
	case admission.Admitted:
		return s.grant(d)
	case admission.Rejected:
		report, err := readReport(d.GetReport())
		if err != nil {
			return nil, err
		}
		return nil, &RejectedError{Report: report}
	case admission.Stale:
		s.mu.Lock()
		s.stale[tx] = key
		s.mu.Unlock()
		report, err := readReport(d.GetReport())
		if err != nil {
			return nil, err
		}
		return nil, &StaleError{Tx: tx, Report: report}
	case admission.Withdrawn:
		return nil, fmt.Errorf("%s: %w (%s)", tx, ErrWithdrawn, d.GetCause())
	default:
		return nil, fmt.Errorf("%s is %s already: its key was used before", tx, status)
	}
}

// submission is one request on its way.
type submission struct {
	session *Session
	in      *weaverv1.SubmitRequest
	onWait  func(Waiting)
	tx      string // once known
}

// decide follows the request on one stream until it is decided.
func (w *submission) decide(ctx context.Context) (*weaverv1.Decision, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := w.session.questions.ask()
	defer answered()
	stream, err := w.session.client.api.Submit(ctx, w.in)
	if err != nil {
		return nil, err
	}
	for {
		d, err := stream.Recv()
		answered() // that it has to wait is an answer
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: the stream ended before the decision", ErrUnreachable)
		}
		if err != nil {
			return nil, err
		}
		w.tx = d.GetTx()
		if admission.Status(d.GetStatus()) != admission.Queued {
			return d, nil
		}
		if err := w.tell(d); err != nil {
			return nil, err
		}
	}
}

func (w *submission) tell(d *weaverv1.Decision) error {
	if w.onWait == nil {
		return nil
	}
	report, err := readReport(d.GetReport())
	if err != nil {
		return err
	}
	w.onWait(Waiting{Tx: admission.TxID(d.GetTx()), Report: report, Foreign: d.GetForeign()})
	return nil
}

// giveUp withdraws the request although the caller's context has ended. A
// request whose id never came back is put again to learn it: the same key
// gets the same transaction.
func (w *submission) giveUp(ctx context.Context) {
	cause := "given up"
	if errors.Is(context.Cause(ctx), ErrImpatient) {
		cause = coordinator.WaitedTooLong
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancel()
	w.onWait = nil
	_ = w.session.call(ctx, func(ctx context.Context) error {
		if w.tx == "" {
			if err := w.identify(ctx); err != nil {
				return err
			}
		}
		_, err := w.session.client.api.Withdraw(ctx, &weaverv1.WithdrawRequest{Tx: w.tx, Cause: cause})
		return err
	})
}

// identify reads the first decision only.
func (w *submission) identify(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := w.session.client.api.Submit(ctx, w.in)
	if err != nil {
		return err
	}
	d, err := stream.Recv()
	if err == nil {
		w.tx = d.GetTx()
	}
	return err
}
