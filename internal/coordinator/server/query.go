// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/grpc"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// maxLookup bounds the nodes of one Lookup, maxPlan the changes of one plan.
const (
	maxLookup = 10000
	maxPlan   = 20000
)

// Forecast says what would become of a plan.
func (s *Server) Forecast(ctx context.Context, in *weaverv1.ForecastRequest) (*weaverv1.ForecastResponse, error) {
	id, err := s.session(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	if n := len(in.GetRequests()); n > maxPlan {
		return nil, toStatus(fmt.Errorf("%w: a plan of %d changes where %d are allowed", errInput, n, maxPlan))
	}
	requests := make([]admission.Request, 0, len(in.GetRequests()))
	for _, r := range in.GetRequests() {
		request, err := readRequest(r)
		if err != nil {
			return nil, toStatus(err)
		}
		requests = append(requests, request)
	}
	prospects, err := s.c.Forecast(ctx, id, requests, in.GetDeclare())
	if err != nil {
		return nil, toStatus(err)
	}
	out := &weaverv1.ForecastResponse{}
	for _, p := range prospects {
		item := &weaverv1.Prospect{Address: p.Address, Decision: p.Decision, Incarnation: p.Incarnation, Version: p.Version}
		if p.Report != nil {
			if item.Report, err = json.Marshal(p.Report); err != nil {
				return nil, toStatus(fmt.Errorf("write the report: %w", err))
			}
		}
		out.Prospects = append(out.Prospects, item)
	}
	return out, nil
}

// Lookup returns nodes with their references.
func (s *Server) Lookup(ctx context.Context, in *weaverv1.LookupRequest) (*weaverv1.LookupResponse, error) {
	if _, err := s.session(ctx); err != nil {
		return nil, toStatus(err)
	}
	if n := len(in.GetIds()); n > maxLookup {
		return nil, toStatus(fmt.Errorf("%w: %d nodes where %d are allowed", errInput, n, maxLookup))
	}
	ids := make([]graph.NodeID, 0, len(in.GetIds()))
	for _, id := range in.GetIds() {
		ids = append(ids, graph.NodeID(id))
	}
	found, index, err := s.c.Lookup(ctx, ids)
	if err != nil {
		return nil, toStatus(err)
	}
	out := &weaverv1.LookupResponse{Index: index}
	for _, f := range found {
		data, err := json.Marshal(f)
		if err != nil {
			return nil, toStatus(fmt.Errorf("write a node: %w", err))
		}
		out.Nodes = append(out.Nodes, data)
	}
	return out, nil
}

// Explain returns the report of a transaction.
func (s *Server) Explain(ctx context.Context, in *weaverv1.ExplainRequest) (*weaverv1.ExplainResponse, error) {
	report, state, err := s.c.Explain(ctx, admission.TxID(in.GetTx()))
	if err != nil {
		return nil, toStatus(err)
	}
	data, err := json.Marshal(report)
	if err != nil {
		return nil, toStatus(fmt.Errorf("write the report: %w", err))
	}
	return &weaverv1.ExplainResponse{Report: data, Status: string(state)}, nil
}

// Status lists everything that is going on.
func (s *Server) Status(ctx context.Context, _ *weaverv1.StatusRequest) (*weaverv1.StatusResponse, error) {
	st, err := s.c.Status(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	data, err := json.Marshal(st)
	if err != nil {
		return nil, toStatus(fmt.Errorf("write the status: %w", err))
	}
	return &weaverv1.StatusResponse{Json: data}, nil
}

// Report lists what was delayed, refused or passed.
func (s *Server) Report(ctx context.Context, _ *weaverv1.ReportRequest) (*weaverv1.ReportResponse, error) {
	r, err := s.c.Report(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, toStatus(fmt.Errorf("write the report: %w", err))
	}
	return &weaverv1.ReportResponse{Json: data}, nil
}

// Watch streams what happens from now on. The headers leave once that is so.
func (s *Server) Watch(_ *weaverv1.WatchRequest, stream grpc.ServerStreamingServer[weaverv1.WatchEvent]) error {
	ctx, cancel := s.whileServing(stream.Context())
	defer cancel()
	w, err := s.c.Watch(ctx)
	if err != nil {
		return toStatus(err)
	}
	defer w.Close()
	if err := stream.SendHeader(nil); err != nil {
		return err
	}
	for {
		e, err := w.Next(ctx)
		if err != nil {
			return toStatus(s.orQuitting(err))
		}
		data, err := e.MarshalJSON()
		if err != nil {
			return toStatus(fmt.Errorf("write an event: %w", err))
		}
		if err := stream.Send(&weaverv1.WatchEvent{Index: e.Index, Event: data}); err != nil {
			return err
		}
	}
}
