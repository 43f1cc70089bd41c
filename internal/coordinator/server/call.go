// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/grpc"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// readJSON reads one of the payloads that are the JSON form of core types.
func readJSON(what string, data []byte, into any) error {
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%w: %s: %w", errInput, what, err)
	}
	return nil
}

func readRequest(in *weaverv1.Request) (admission.Request, error) {
	var r admission.Request
	if len(in.GetJson()) == 0 {
		return r, fmt.Errorf("%w: the request is empty", errInput)
	}
	return r, readJSON("request", in.GetJson(), &r)
}

// Submit streams what becomes of a request until it is decided.
func (s *Server) Submit(in *weaverv1.SubmitRequest, stream grpc.ServerStreamingServer[weaverv1.Decision]) error {
	ctx, cancel := s.whileServing(stream.Context())
	defer cancel()
	id, err := s.session(ctx)
	if err != nil {
		return toStatus(err)
	}
	request, err := readRequest(in.GetRequest())
	if err != nil {
		return toStatus(err)
	}
	d, follow, err := s.c.Submit(ctx, id, request, admission.TxID(in.GetTx()))
	if err != nil {
		return toStatus(err)
	}
	if follow != nil {
		defer follow.Close()
	}
	for {
		if err := send(stream, d); err != nil || !d.Waits() {
			return err
		}
		if d, err = follow.Next(ctx); err != nil {
			return toStatus(s.orQuitting(err))
		}
	}
}

func send(stream grpc.ServerStreamingServer[weaverv1.Decision], d coordinator.Decision) error {
	out, err := decision(d)
	if err != nil {
		return err
	}
	return stream.Send(out)
}

// decision is where a transaction stands, as the API writes it.
func decision(d coordinator.Decision) (*weaverv1.Decision, error) {
	out := &weaverv1.Decision{
		Tx: string(d.Tx), Status: string(d.Status), Token: d.Token,
		Index: d.Index, Cause: d.Cause, Foreign: d.Foreign, Reservation: d.Reservation,
	}
	var err error
	if d.Report != nil {
		if out.Report, err = json.Marshal(d.Report); err != nil {
			return nil, toStatus(fmt.Errorf("write the report: %w", err))
		}
	}
	if d.Passed != nil {
		if out.Passed, err = json.Marshal(d.Passed); err != nil {
			return nil, toStatus(fmt.Errorf("write how the call passed: %w", err))
		}
	}
	return out, nil
}

// Start journals that a call is about to be sent.
func (s *Server) Start(ctx context.Context, in *weaverv1.StartRequest) (*weaverv1.StartResponse, error) {
	id, err := s.session(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	left, err := s.c.Start(ctx, id, admission.TxID(in.GetTx()), in.GetToken())
	if err != nil {
		return nil, toStatus(err)
	}
	return &weaverv1.StartResponse{SendByMs: left.Milliseconds()}, nil
}

// Complete journals the outcome of a call.
func (s *Server) Complete(ctx context.Context, in *weaverv1.CompleteRequest) (*weaverv1.CompleteResponse, error) {
	id, err := s.session(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	out := coordinator.Outcome{
		Tx: admission.TxID(in.GetTx()), Token: in.GetToken(), Result: admission.Result(in.GetResult()),
		Exists: in.GetExists(), Digest: in.GetDigest(),
	}
	if err := readJSON("bind", in.GetBind(), &out.Bind); err != nil {
		return nil, toStatus(err)
	}
	if err := s.c.Complete(ctx, id, out); err != nil {
		return nil, toStatus(err)
	}
	return &weaverv1.CompleteResponse{}, nil
}

// Withdraw gives up a transaction that was not started.
func (s *Server) Withdraw(ctx context.Context, in *weaverv1.WithdrawRequest) (*weaverv1.WithdrawResponse, error) {
	id, err := s.session(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	if err := limit([]string{in.GetCause()}, 1, maxName); err != nil {
		return nil, toStatus(err)
	}
	if err := s.c.Withdraw(ctx, id, admission.TxID(in.GetTx()), in.GetCause()); err != nil {
		return nil, toStatus(err)
	}
	return &weaverv1.WithdrawResponse{}, nil
}

// Observe takes over what a session read.
func (s *Server) Observe(ctx context.Context, in *weaverv1.ObserveRequest) (*weaverv1.ObserveResponse, error) {
	id, err := s.session(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	seen := admission.Observe{Session: id, Began: in.GetBegan()}
	if err := readJSON("nodes", in.GetNodes(), &seen.Nodes); err != nil {
		return nil, toStatus(err)
	}
	if err := readJSON("objects", in.GetObjects(), &seen.Objects); err != nil {
		return nil, toStatus(err)
	}
	index, err := s.c.Observe(ctx, seen)
	if err != nil {
		return nil, toStatus(err)
	}
	return &weaverv1.ObserveResponse{Index: index}, nil
}

// Resolve settles an uncertain transaction.
func (s *Server) Resolve(ctx context.Context, in *weaverv1.ResolveRequest) (*weaverv1.ResolveResponse, error) {
	if err := limit([]string{in.GetActor(), in.GetReason()}, 2, maxObjective); err != nil {
		return nil, toStatus(err)
	}
	err := s.c.Resolve(ctx, admission.TxID(in.GetTx()), in.GetActor(), in.GetReason(), in.GetExists())
	if err != nil {
		return nil, toStatus(err)
	}
	s.log.Warn("settled by a person", "tx", in.GetTx(), "actor", in.GetActor(), "exists", in.GetExists())
	return &weaverv1.ResolveResponse{}, nil
}
