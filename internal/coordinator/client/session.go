// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/metadata"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

const (
	// metadataKey carries the session's credential.
	metadataKey = "weaver-session"
	// openingKey carries a secret that is the same whenever the opening of one
	// session is repeated.
	openingKey = "weaver-opening"
	// protocolKey carries the protocol that the client speaks.
	protocolKey = "weaver-protocol"
)

// firstKey begins the idempotency keys that this package chooses, beyond those
// that callers count up from one.
const firstKey = 1 << 40

// Session is a live session. Safe for concurrent use. Close must be called.
type Session struct {
	client *Client
	id     string
	secret string
	lease  time.Duration
	// patience is how long the coordinator may stay away.
	patience time.Duration

	// life ends, with the cause, when the session is lost or closed.
	life context.Context
	end  context.CancelCauseFunc
	// beating is closed when the heartbeats have stopped.
	beating chan struct{}
	poke    chan struct{}

	questions questions

	keys  atomic.Uint64
	mu    sync.Mutex
	phase string // to be sent with the next heartbeat
	stale map[admission.TxID]uint64
}

// Open begins a session and keeps its lease until it is closed or lost. The
// session does not end with ctx. An opening whose answer was lost is repeated
// and gets the session that was opened then.
func (c *Client) Open(ctx context.Context, config SessionConfig) (*Session, error) {
	lease := config.Lease
	if lease == 0 {
		lease = DefaultLease
	}
	in := &weaverv1.OpenSessionRequest{
		Actor: config.Actor, Tool: config.Tool, Host: config.Host, RunUrl: config.RunURL,
		Origin: config.Origin, Labels: config.Labels, Policy: string(config.Policy),
		LeaseMs: lease.Milliseconds(), Phase: config.Phase,
		Intent: &weaverv1.Intent{Objective: config.Objective, Kind: config.Kind, Links: config.Links},
	}
	keyed := metadata.AppendToOutgoingContext(ctx, openingKey, rand.Text(), protocolKey, strconv.Itoa(Protocol))
	out, err := ask(keyed, c, func() (*weaverv1.OpenSessionResponse, error) { return c.api.OpenSession(keyed, in) })
	if err != nil {
		return nil, err
	}
	s := &Session{
		client: c, id: out.GetSessionId(), secret: out.GetSecret(),
		lease:   time.Duration(out.GetLeaseMs()) * time.Millisecond,
		beating: make(chan struct{}), poke: make(chan struct{}, 1),
		stale: map[admission.TxID]uint64{},
	}
	s.patience = s.lease + cmp.Or(config.Patience, DefaultPatience)
	s.life, s.end = context.WithCancelCause(context.WithoutCancel(ctx))
	go s.keepAlive()
	return s, nil
}

// ID names the session; people can type it.
func (s *Session) ID() string { return s.id }

// Done is closed when the session is lost or closed.
func (s *Session) Done() <-chan struct{} { return s.life.Done() }

// Err says why Done is closed; nil while the session lives. It wraps
// ErrSessionEnded, and ErrLost or ErrProtocol if that is why.
func (s *Session) Err() error {
	if s.life.Err() == nil {
		return nil
	}
	return context.Cause(s.life)
}

// SetPhase tells the others what the session is doing.
func (s *Session) SetPhase(phase string) {
	s.mu.Lock()
	s.phase = phase
	s.mu.Unlock()
	select {
	case s.poke <- struct{}{}:
	default:
	}
}

// signed adds the session's credential, and what this side means by what it
// says, to the calls made with ctx.
func (s *Session) signed(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, metadataKey, s.secret, protocolKey, strconv.Itoa(Protocol))
}

// call runs f until it gets an answer, as long as the session lives.
func (s *Session) call(ctx context.Context, f func(context.Context) error) error {
	defer s.questions.ask()()
	return s.converse(ctx, f)
}

// converse is call for an f that may take long without being a question that is
// open all the time.
func (s *Session) converse(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(s.life, func() { cancel(s.Err()) })
	defer stop()
	signed := s.signed(ctx)
	err := retry(ctx, s.patience, func() error { return s.client.explain(ctx, f(signed)) })
	if err != nil && s.life.Err() != nil {
		return s.Err()
	}
	if errors.Is(err, ErrProtocol) {
		var more *ProtocolError
		if e := s.client.check(ctx); errors.As(e, &more) {
			err = more
		}
	}
	if errors.Is(err, ErrLost) || errors.Is(err, ErrProtocol) {
		s.end(fmt.Errorf("%w: %w", ErrSessionEnded, err))
		return s.Err()
	}
	return err
}

// Forecast says what would become of each request of a plan. With declare set,
// what the plan creates becomes known to the other sessions.
func (s *Session) Forecast(ctx context.Context, requests []admission.Request, declare bool) ([]Prospect, error) {
	in := &weaverv1.ForecastRequest{Declare: declare}
	for _, r := range requests {
		data, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("write the request for %s: %w", r.Address, err)
		}
		in.Requests = append(in.Requests, &weaverv1.Request{Json: data})
	}
	var out *weaverv1.ForecastResponse
	err := s.call(ctx, func(ctx context.Context) (err error) {
		out, err = s.client.api.Forecast(ctx, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	list := make([]Prospect, 0, len(out.GetProspects()))
	for _, p := range out.GetProspects() {
		item := Prospect{Address: p.GetAddress(), Decision: p.GetDecision(), Incarnation: p.GetIncarnation(), Version: p.GetVersion()}
		if len(p.GetReport()) > 0 {
			report, err := readReport(p.GetReport())
			if err != nil {
				return nil, err
			}
			item.Report = &report
		}
		list = append(list, item)
	}
	return list, nil
}

// Observe reports what was read from the cloud, where the reading began after
// the record began. It returns the index behind which it is known.
func (s *Session) Observe(ctx context.Context, began uint64, nodes []graph.Decl, objects []admission.Observation) (uint64, error) {
	placed, err := json.Marshal(nodes)
	if err != nil {
		return 0, fmt.Errorf("write an observation: %w", err)
	}
	seen, err := json.Marshal(objects)
	if err != nil {
		return 0, fmt.Errorf("write an observation: %w", err)
	}
	var out *weaverv1.ObserveResponse
	err = s.call(ctx, func(ctx context.Context) (err error) {
		out, err = s.client.api.Observe(ctx, &weaverv1.ObserveRequest{Began: began, Nodes: placed, Objects: seen})
		return err
	})
	return out.GetIndex(), err
}

// Lookup returns nodes with their references, in the order of ids, and the
// index of the last record that they include.
func (s *Session) Lookup(ctx context.Context, ids ...graph.NodeID) ([]coordinator.Found, uint64, error) {
	in := &weaverv1.LookupRequest{}
	for _, id := range ids {
		in.Ids = append(in.Ids, string(id))
	}
	var out *weaverv1.LookupResponse
	err := s.call(ctx, func(ctx context.Context) (err error) {
		out, err = s.client.api.Lookup(ctx, in)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	found, err := readAll[coordinator.Found]("a node", out.GetNodes())
	return found, out.GetIndex(), err
}

// AddIntent gives the session another intent, for requests to name.
func (s *Session) AddIntent(ctx context.Context, intent admission.Intent) (admission.IntentID, error) {
	var out *weaverv1.AddIntentResponse
	err := s.call(ctx, func(ctx context.Context) (err error) {
		out, err = s.client.api.AddIntent(ctx, &weaverv1.AddIntentRequest{Intent: &weaverv1.Intent{
			Id: string(intent.ID), Objective: intent.Objective, Kind: intent.Kind, Links: intent.Links,
		}})
		return err
	})
	return admission.IntentID(out.GetIntentId()), err
}

// errClosed is the cause of the end of a session that was closed.
var errClosed = fmt.Errorf("%w: it was closed", ErrSessionEnded)

// Close ends the session: what waits is withdrawn. It says how many other
// sessions were open during this one. A session that was lost is closed
// without an error.
func (s *Session) Close(ctx context.Context) (peers int, err error) {
	var out *weaverv1.CloseSessionResponse
	if s.life.Err() == nil {
		// The lease ends by itself, so it is not worth waiting long.
		ctx, cancel := context.WithTimeout(ctx, parting)
		defer cancel()
		err = s.call(ctx, func(ctx context.Context) (err error) {
			out, err = s.client.api.CloseSession(ctx, &weaverv1.CloseSessionRequest{})
			return err
		})
	}
	s.end(errClosed)
	<-s.beating
	if errors.Is(err, ErrSessionEnded) {
		err = nil
	}
	return int(out.GetPeers()), err
}
