// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
)

// networkScheme begins the addresses of coordinators on a network.
const networkScheme = "tcp://"

// maxAuthorities bounds the file of certificates in bytes.
const maxAuthorities = 4 << 20

// Credentials are what a coordinator on a network and its clients know of each
// other. They print as nothing.
type Credentials struct {
	// CAFile is a PEM file with the certificates that vouch for the
	// coordinator's, or with that itself; empty means those that the system
	// trusts.
	CAFile string
	// Token is the coordinator's bearer token.
	Token string
}

// String hides the token.
func (c Credentials) String() string { return "credentials (CA file " + c.CAFile + ")" }

// GoString hides the token.
func (c Credentials) GoString() string { return c.String() }

// LogValue hides the token.
func (c Credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }

// dialNetwork connects by TLS to a host and port.
func dialNetwork(ctx context.Context, target, address string, c Credentials) (*Client, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || port == "" {
		return nil, fmt.Errorf("%q %w: it has to name a host and a port, as in tcp://coordinator.example:7443", target, ErrAddress)
	}
	token, err := c.token()
	if err != nil {
		return nil, fmt.Errorf("%w at %s", err, target)
	}
	config := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}}
	if config.RootCAs, err = c.authorities(); err != nil {
		return nil, err
	}
	// Once by hand: gRPC would reduce the error to a text.
	if err := knockTLS(ctx, target, address, config); err != nil {
		return nil, err
	}
	dial := func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", address)
	}
	return connect(ctx, target, DefaultPatience, dial,
		grpc.WithTransportCredentials(credentials.NewTLS(config)),
		grpc.WithPerRPCCredentials(bearer(token)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pulse, Timeout: pulse}))
}

// pulse is how long a connection is silent before it is looked after, and how
// long the answer may take.
const pulse = 10 * time.Second

func (c Credentials) token() (string, error) {
	token := strings.TrimSpace(c.Token)
	if token == "" {
		return "", ErrNoToken
	}
	for _, r := range token {
		if r <= ' ' || r > '~' {
			return "", fmt.Errorf("%w: what was given has characters that no token has", ErrNoToken)
		}
	}
	return token, nil
}

// authorities are the certificates to trust; nil for the system's.
func (c Credentials) authorities() (*x509.CertPool, error) {
	if c.CAFile == "" {
		return nil, nil
	}
	f, err := os.Open(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read the certificates to trust: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxAuthorities))
	if err != nil {
		return nil, fmt.Errorf("read the certificates to trust: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%w: %s holds no certificate in PEM form", ErrCertificate, c.CAFile)
	}
	return pool, nil
}

// knockTLS connects once, to say what is wrong if something is.
func knockTLS(ctx context.Context, target, address string, config *tls.Config) error {
	knocking, cancel := context.WithTimeout(ctx, knock)
	defer cancel()
	d := tls.Dialer{Config: config}
	conn, err := d.DialContext(knocking, "tcp", address)
	if err == nil {
		return conn.Close()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return explainTLS(target, err)
}

// explainTLS says what a failed connection means, and what helps.
func explainTLS(target string, err error) error {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		bad     *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("%w: %s: nobody who is trusted here vouches for it: name the file with the certificate of whoever does (%w)", ErrCertificate, target, err)
	case errors.As(err, &name):
		return fmt.Errorf("%w: %s: it is for another name: use the name in the certificate as the host, or have one issued for this (%w)", ErrCertificate, target, err)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Errorf("%w: %s: it has expired or is not valid yet: renew it, or set this machine's clock (%w)", ErrCertificate, target, err)
	case errors.As(err, &invalid), errors.As(err, &bad):
		return fmt.Errorf("%w: %s: %w", ErrCertificate, target, err)
	case errors.As(err, &record):
		return fmt.Errorf("%w at %s: this is no coordinator, or one behind a proxy without TLS (%w)", ErrPlaintext, target, err)
	case errors.As(err, &alert):
		return fmt.Errorf("%w at %s: it does not agree on TLS 1.3 (%w)", ErrUnreachable, target, err)
	default:
		return fmt.Errorf("%w at %s: %w; is `tfweaver serve --listen %s` running there?", ErrUnreachable, target, err, target)
	}
}

// bearer shows a token with every call, over TLS only.
type bearer string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (bearer) RequireTransportSecurity() bool { return true }

// String hides the token.
func (bearer) String() string { return "bearer token" }
