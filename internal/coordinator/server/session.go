// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

const (
	// MetadataKey carries the session's credential.
	MetadataKey = "weaver-session"
	// OpeningKey carries a secret of the client's choice, random and of MinOpening
	// bytes or more, by which OpenSession can be repeated: the same one gets the
	// same session. Without it every call opens another.
	OpeningKey = "weaver-opening"
	// ProtocolKey carries the protocol that the client speaks. A coordinator
	// that took another's place refuses the sessions of another protocol by it.
	ProtocolKey = "weaver-protocol"
	// MinOpening is the least length of an opening's secret, which brings the
	// session's credential to whoever knows it.
	MinOpening = 22
)

// Limits of what a session may say about itself.
const (
	// MinLease leaves room for a few heartbeats on a busy machine.
	MinLease = 100 * time.Millisecond
	// MaxLease bounds for how long a killed run holds others up.
	MaxLease = time.Hour
	// DefaultLease is that of a session which names none.
	DefaultLease = 30 * time.Second

	maxName      = 512
	maxObjective = 4096
	maxLinks     = 32
	maxLabels    = 64
)

// session authenticates the caller.
func (s *Server) session(ctx context.Context) (admission.SessionID, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if err := understood(md); err != nil {
		return "", err
	}
	values := md.Get(MetadataKey)
	if len(values) != 1 {
		return "", fmt.Errorf("the call names no session: %w", coordinator.ErrCredential)
	}
	return s.c.Authenticate(values[0])
}

// understood refuses a client that says that it speaks another protocol.
func understood(md metadata.MD) error {
	for _, theirs := range md.Get(ProtocolKey) {
		if theirs != strconv.Itoa(Protocol) {
			return fmt.Errorf("%w: %.8q, and this coordinator %d: use the same version of tfweaver on both sides", coordinator.ErrProtocol, theirs, Protocol)
		}
	}
	return nil
}

// opening is the digest of the secret with which a session is opened, by which
// others cannot open it; empty when there is none.
func opening(md metadata.MD) (string, error) {
	values := md.Get(OpeningKey)
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 || len(values[0]) < MinOpening || len(values[0]) > maxName {
		return "", fmt.Errorf("%w: the secret of an opening has %d to %d bytes", errInput, MinOpening, maxName)
	}
	sum := sha256.Sum256([]byte(values[0]))
	return hex.EncodeToString(sum[:]), nil
}

// Info says who answers.
func (s *Server) Info(context.Context, *weaverv1.InfoRequest) (*weaverv1.InfoResponse, error) {
	c := s.c.Config()
	return &weaverv1.InfoResponse{
		Version: c.Version, Store: c.Store, Host: c.Host, Embedded: c.Embedded,
		Epoch: s.c.Epoch(), Protocol: Protocol,
	}, nil
}

// OpenSession begins a session.
func (s *Server) OpenSession(ctx context.Context, in *weaverv1.OpenSessionRequest) (*weaverv1.OpenSessionResponse, error) {
	session, intent, err := readSession(in)
	if err != nil {
		return nil, toStatus(err)
	}
	md, _ := metadata.FromIncomingContext(ctx)
	digest, err := opening(md)
	if err := errors.Join(err, understood(md)); err != nil {
		return nil, toStatus(err)
	}
	session.Labels[coordinator.LabelIdentity] = identity(visitorOf(ctx))
	delete(session.Labels, coordinator.LabelOpening)
	if digest != "" {
		session.Labels[coordinator.LabelOpening] = digest
	}
	opened, err := s.c.OpenSession(ctx, session, intent)
	if err != nil {
		return nil, toStatus(err)
	}
	s.opened(ctx, opened.Session)
	s.log.Info("session opened", "session", opened.Session, "actor", session.Actor, "origin", session.Origin)
	return &weaverv1.OpenSessionResponse{
		SessionId: string(opened.Session), Secret: opened.Credential,
		LeaseMs: time.Duration(session.Lease).Milliseconds(), IntentId: string(opened.Intent),
	}, nil
}

// readSession checks what a session says about itself.
func readSession(in *weaverv1.OpenSessionRequest) (admission.Session, admission.Intent, error) {
	lease := time.Duration(in.GetLeaseMs()) * time.Millisecond
	if in.GetLeaseMs() == 0 {
		lease = DefaultLease
	}
	if lease < MinLease || lease > MaxLease || in.GetLeaseMs() > MaxLease.Milliseconds() {
		return admission.Session{}, admission.Intent{}, fmt.Errorf("%w: the lease must be between %s and %s", errInput, MinLease, MaxLease)
	}
	if in.GetActor() == "" {
		return admission.Session{}, admission.Intent{}, fmt.Errorf("%w: the session names no actor", errInput)
	}
	short := []string{in.GetActor(), in.GetTool(), in.GetHost(), in.GetRunUrl(), in.GetOrigin(), in.GetPhase()}
	for k, v := range in.GetLabels() {
		short = append(short, k, v)
	}
	if err := limit(short, 2*maxLabels+6, maxName); err != nil {
		return admission.Session{}, admission.Intent{}, err
	}
	labels := make(map[string]string, len(in.GetLabels())+1)
	maps.Copy(labels, in.GetLabels())
	intent, err := readIntent(in.GetIntent())
	return admission.Session{
		Actor: in.GetActor(), Tool: in.GetTool(), Host: in.GetHost(), RunURL: in.GetRunUrl(),
		Origin: in.GetOrigin(), Labels: labels, Policy: admission.Policy(in.GetPolicy()),
		Lease: int64(lease), Phase: in.GetPhase(),
	}, intent, err
}

func readIntent(in *weaverv1.Intent) (admission.Intent, error) {
	err := errors.Join(
		limit([]string{in.GetObjective()}, 1, maxObjective),
		limit([]string{in.GetId(), in.GetKind()}, 2, maxName),
		limit(in.GetLinks(), maxLinks, maxObjective))
	return admission.Intent{
		ID: admission.IntentID(in.GetId()), Objective: in.GetObjective(), Kind: in.GetKind(), Links: in.GetLinks(),
	}, err
}

func limit(values []string, count, size int) error {
	if len(values) > count {
		return fmt.Errorf("%w: %d values where %d are allowed", errInput, len(values), count)
	}
	for _, v := range values {
		if len(v) > size {
			return fmt.Errorf("%w: a text of %d bytes where %d are allowed", errInput, len(v), size)
		}
	}
	return nil
}

// Heartbeat renews the lease with each message.
func (s *Server) Heartbeat(stream grpc.BidiStreamingServer[weaverv1.HeartbeatRequest, weaverv1.HeartbeatResponse]) error {
	ctx := stream.Context()
	id, err := s.session(ctx)
	if err != nil {
		return toStatus(err)
	}
	beats, over := receive(stream)
	for {
		select {
		case beat := <-beats:
			if err := limit([]string{beat.GetPhase()}, 1, maxName); err != nil {
				return toStatus(err)
			}
			left, err := s.c.Renew(ctx, id, beat.GetPhase())
			if err != nil {
				return toStatus(err)
			}
			if err := stream.Send(&weaverv1.HeartbeatResponse{LeaseLeftMs: left.Milliseconds()}); err != nil {
				return err
			}
		case err := <-over:
			return err
		case <-s.life.Done():
			return toStatus(coordinator.ErrUnavailable)
		}
	}
}

// receive reads a stream in the background, so that the end of the server ends
// the stream too. The goroutine ends with the stream.
func receive(stream grpc.BidiStreamingServer[weaverv1.HeartbeatRequest, weaverv1.HeartbeatResponse]) (<-chan *weaverv1.HeartbeatRequest, <-chan error) {
	beats := make(chan *weaverv1.HeartbeatRequest)
	over := make(chan error, 1)
	go func() {
		for {
			beat, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				err = nil
				over <- err
				return
			}
			if err != nil {
				over <- err
				return
			}
			select {
			case beats <- beat:
			case <-stream.Context().Done():
				return
			}
		}
	}()
	return beats, over
}

// CloseSession ends the caller's session.
func (s *Server) CloseSession(ctx context.Context, _ *weaverv1.CloseSessionRequest) (*weaverv1.CloseSessionResponse, error) {
	id, err := s.session(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	peers, err := s.c.CloseSession(ctx, id)
	if err != nil {
		return nil, toStatus(err)
	}
	s.log.Info("session closed", "session", id)
	return &weaverv1.CloseSessionResponse{Peers: uint32(min(peers, 1<<30))}, nil
}

// AddIntent gives the caller's session another intent.
func (s *Server) AddIntent(ctx context.Context, in *weaverv1.AddIntentRequest) (*weaverv1.AddIntentResponse, error) {
	id, err := s.session(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	intent, err := readIntent(in.GetIntent())
	if err != nil {
		return nil, toStatus(err)
	}
	added, err := s.c.AddIntent(ctx, id, intent)
	if err != nil {
		return nil, toStatus(err)
	}
	return &weaverv1.AddIntentResponse{IntentId: string(added)}, nil
}
