// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// otherVersion is a coordinator of another protocol that is content with every
// heartbeat, and refuses to look anything up.
type otherVersion struct {
	weaverv1.UnimplementedCoordinatorServer
	protocol uint32
}

func (o otherVersion) Info(context.Context, *weaverv1.InfoRequest) (*weaverv1.InfoResponse, error) {
	return &weaverv1.InfoResponse{Protocol: o.protocol, Version: "9.9.9"}, nil
}

func (o otherVersion) Heartbeat(stream grpc.BidiStreamingServer[weaverv1.HeartbeatRequest, weaverv1.HeartbeatResponse]) error {
	for {
		if _, err := stream.Recv(); err != nil {
			return err
		}
		if err := stream.Send(&weaverv1.HeartbeatResponse{LeaseLeftMs: 60_000}); err != nil {
			return err
		}
	}
}

func (o otherVersion) Lookup(context.Context, *weaverv1.LookupRequest) (*weaverv1.LookupResponse, error) {
	st, err := status.New(codes.FailedPrecondition, "protocol 1, and this coordinator another").
		WithDetails(&errdetails.ErrorInfo{Reason: "PROTOCOL", Domain: coordinator.ErrorDomain})
	if err != nil {
		return nil, err
	}
	return nil, st.Err()
}

// serveOther puts such a coordinator in the place of the one before.
func (p *place) serveOther(protocol uint32) {
	p.t.Helper()
	l, err := server.Listen(p.t.Context(), p.address)
	if err != nil {
		p.t.Fatal(err)
	}
	g := grpc.NewServer()
	weaverv1.RegisterCoordinatorServer(g, otherVersion{protocol: protocol})
	served := make(chan error, 1)
	go func() { served <- g.Serve(l) }()
	p.t.Cleanup(func() {
		g.Stop()
		<-served
	})
}

// TestAnotherProtocolTakesOver: a session does not go on with a coordinator that
// means something else by what is said, older or newer. It ends with the error
// with which it could not have begun, found by its heartbeat or by a call.
func TestAnotherProtocolTakesOver(t *testing.T) {
	t.Parallel()
	for _, protocol := range []uint32{client.Protocol - 1, client.Protocol + 1} {
		for how, x := range map[string]struct {
			lease time.Duration
			call  bool
		}{"heartbeat": {600 * time.Millisecond, false}, "call": {time.Hour, true}} {
			t.Run(fmt.Sprint(how, protocol), func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				stop := p.serve()
				s := open(t, p.dial(), client.SessionConfig{Actor: "alice", Lease: x.lease, Patience: time.Hour})
				stop()
				p.serveOther(protocol)
				_, first := client.Dial(within(t), p.address)
				if x.call {
					_, _, err := s.Lookup(within(t), graph.NodeID("n"))
					wantError(t, "Lookup", err, client.ErrProtocol)
				}
				receive(t, "end of the session", s.Done())
				for what, err := range map[string]error{"Dial": first, "Err": s.Err()} {
					var other *client.ProtocolError
					if !errors.As(err, &other) || other.Theirs != protocol || other.Version != "9.9.9" || other.Target != p.address {
						t.Errorf("%s: %v; want an error about protocol %d of 9.9.9", what, err, protocol)
					}
				}
				wantError(t, "Err", s.Err(), client.ErrSessionEnded)
			})
		}
	}
}

// TestGreetingIsRepeated: a coordinator that is being restarted is waited for.
func TestGreetingIsRepeated(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	dialed := make(chan error, 1)
	ctx := within(t)
	go func() {
		c, err := client.Dial(ctx, p.address)
		if err == nil {
			err = c.Close()
		}
		dialed <- err
	}()
	time.Sleep(50 * time.Millisecond) // so that it most likely has met nobody yet
	stop := p.serve()
	if err := receive(t, "connection", dialed); err != nil {
		t.Errorf("Dial: %v", err)
	}
	c := p.dial()
	stop()
	opened := make(chan error, 1)
	go func() {
		s, err := c.Open(ctx, client.SessionConfig{Actor: "alice", Objective: "test"})
		if err == nil {
			_, err = s.Close(ctx)
		}
		opened <- err
	}()
	time.Sleep(50 * time.Millisecond)
	p.serve()
	if err := receive(t, "session", opened); err != nil {
		t.Errorf("Open: %v", err)
	}
}
