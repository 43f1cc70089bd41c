// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
)

// beatsPerLease is how many signs of life fit into a lease: two may get lost.
const beatsPerLease = 3

// heart is the heartbeat stream while it works.
type heart struct {
	session *Session
	stream  grpc.BidiStreamingClient[weaverv1.HeartbeatRequest, weaverv1.HeartbeatResponse]
	stop    context.CancelFunc
}

// keepAlive renews the lease until the session ends. The session is lost when
// the coordinator says so, or when it was not heard of for a whole lease and the
// session's patience.
func (s *Session) keepAlive() {
	defer close(s.beating)
	h := heart{session: s}
	defer h.drop()
	answered := func() {}
	defer func() { answered() }()
	last, owed := time.Now(), false
	timer := time.NewTimer(s.lease / beatsPerLease)
	defer timer.Stop()
	for {
		select {
		case <-s.life.Done():
			return
		case <-timer.C:
		case <-s.poke:
		}
		began := time.Now()
		if !owed {
			answered, owed = s.questions.ask(), true
		}
		err := h.beat()
		if err == nil {
			answered()
			owed = false
		}
		switch {
		case err == nil:
			last = began
			timer.Reset(s.lease / beatsPerLease)
		case errors.Is(err, ErrSessionEnded):
			s.end(err)
			return
		case errors.Is(err, ErrProtocol):
			s.end(fmt.Errorf("%w: %w", ErrSessionEnded, err))
			return
		case elapsed(last) > s.patience:
			s.end(fmt.Errorf("%w: %w: no answer for %s: %w", ErrSessionEnded, ErrLost, s.patience, err))
			return
		default:
			timer.Reset(min(s.lease/(8*beatsPerLease), maxPause))
		}
	}
}

// beat is one sign of life, on a new stream if need be.
func (h *heart) beat() error {
	s := h.session
	s.mu.Lock()
	phase := s.phase
	s.mu.Unlock()
	if err := h.exchange(phase); err != nil {
		h.drop()
		return err
	}
	s.mu.Lock()
	if s.phase == phase {
		s.phase = "" // it is known now
	}
	s.mu.Unlock()
	return nil
}

func (h *heart) exchange(phase string) error {
	s := h.session
	fresh := h.stream == nil
	var ctx context.Context
	if fresh {
		ctx, h.stop = context.WithCancel(s.signed(s.life))
	}
	// An answer that takes longer than this is as good as none.
	patience := time.AfterFunc(max(s.lease/beatsPerLease, 100*time.Millisecond), h.stop)
	defer patience.Stop()
	if fresh {
		if err := h.begin(ctx); err != nil {
			return err
		}
	}
	// Send's own error says only that the stream is over; Recv says why.
	sent := h.stream.Send(&weaverv1.HeartbeatRequest{Phase: phase})
	_, err := h.stream.Recv()
	if err == nil {
		return nil
	}
	if explained := s.client.explain(s.life, err); explained != nil {
		return explained
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, errors.Join(sent, err))
}

// begin opens a stream, to a coordinator that may have taken another's place
// since. The question who it is goes by the same connection: if that was lost
// in between, so was the stream.
func (h *heart) begin(ctx context.Context) error {
	c := h.session.client
	stream, err := c.api.Heartbeat(ctx)
	if err != nil {
		return c.explain(ctx, err)
	}
	h.stream = stream
	return c.check(ctx)
}

func (h *heart) drop() {
	if h.stop != nil {
		h.stop()
	}
	h.stream, h.stop = nil, nil
}
