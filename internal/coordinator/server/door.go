// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"context"
	"errors"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/liveness"
)

// visitor is what is known of whoever is at the other end of a connection.
type visitor struct {
	credentials.CommonAuthInfo
	// network says that it came over a network, and has to show a token.
	network bool
	// process is the one that connected; known is false where that cannot be
	// told.
	process coordinator.Process
	known   bool
}

// AuthType implements credentials.AuthInfo.
func (v visitor) AuthType() string {
	if v.network {
		return "tls"
	}
	return "local"
}

// visitorOf is whoever made a call. Who is not known at all counts as having
// come over a network.
func visitorOf(ctx context.Context) visitor {
	if p, ok := peer.FromContext(ctx); ok {
		if v, ok := p.AuthInfo.(visitor); ok {
			return v
		}
	}
	return visitor{network: true}
}

// door looks at each new connection: a local one has been checked when it was
// accepted, any other has to speak TLS.
type door struct{ guard *Guard }

var _ credentials.TransportCredentials = (*door)(nil)

// errUnguarded: a connection came over a network, and nobody is there to check it.
var errUnguarded = errors.New("connections over a network are not let in")

// ServerHandshake implements credentials.TransportCredentials.
func (d *door) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if l, ok := conn.(*local); ok {
		v := visitor{CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}}
		if l.pid > 0 {
			p, err := liveness.Identify(l.pid)
			v.process, v.known = p, err == nil
		}
		return conn, v, nil
	}
	if d.guard == nil {
		return nil, nil, errUnguarded
	}
	secure, _, err := credentials.NewTLS(d.guard.tls).ServerHandshake(conn)
	if err != nil {
		return nil, nil, err
	}
	return secure, visitor{
		CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}, network: true,
	}, nil
}

// ClientHandshake implements credentials.TransportCredentials.
func (*door) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("a server's credentials are no client's")
}

// Info implements credentials.TransportCredentials.
func (*door) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "tls"}
}

// Clone implements credentials.TransportCredentials.
func (d *door) Clone() credentials.TransportCredentials { return &door{guard: d.guard} }

// OverrideServerName implements credentials.TransportCredentials.
func (*door) OverrideServerName(string) error { return nil }
