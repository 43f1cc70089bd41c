// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

// exposed is a daemon on the network, with its address.
func exposed(t *testing.T, security server.Security) string {
	t.Helper()
	ready, done := make(chan string, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		done <- server.Run(ctx, server.Config{
			Listen: "tcp://127.0.0.1:0", Security: security, Dir: filepath.Join(t.TempDir(), "state"),
			Ready: func(address string, _ uint64) error { ready <- address; return nil },
		})
	}()
	t.Cleanup(cancel)
	select {
	case address := <-ready:
		t.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("Run: %v", err)
			}
		})
		return strings.TrimPrefix(address, "tcp://")
	case err := <-done:
		t.Fatalf("Run: %v", err)
		return ""
	}
}

func secured(a *coordinatortest.Authority) server.Security {
	cert, key := a.Issue("127.0.0.1", time.Hour)
	return server.Security{CertFile: cert, KeyFile: key, TokenFile: a.Secret(coordinatortest.Token)}
}

func trusting(t *testing.T, a *coordinatortest.Authority) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(a.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"}}
}

// TestNoTokenNoCall: whatever is asked over the network, nothing is answered
// without the token, and with it everything as on a socket.
func TestNoTokenNoCall(t *testing.T) {
	t.Parallel()
	ca := coordinatortest.NewAuthority(t)
	address := exposed(t, secured(ca))
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(trusting(t, ca))))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	token := coordinatortest.Token
	for name, md := range map[string]metadata.MD{
		"nothing":             {},
		"another token":       metadata.Pairs("authorization", "Bearer "+strings.Repeat("x", 32)),
		"a beginning":         metadata.Pairs("authorization", "Bearer "+token[:31]),
		"more":                metadata.Pairs("authorization", "Bearer "+token+"x"),
		"the token by itself": metadata.Pairs("authorization", token),
		"two tokens":          metadata.Pairs("authorization", "Bearer "+token, "authorization", "Bearer "+token),
		"a session's secret":  metadata.Pairs("weaver-session", "Bearer "+token),
	} {
		ctx := metadata.NewOutgoingContext(within(t), md)
		for _, m := range weaverv1.Coordinator_ServiceDesc.Methods {
			err := conn.Invoke(ctx, "/weaver.v1.Coordinator/"+m.MethodName, &weaverv1.InfoRequest{}, &weaverv1.InfoResponse{})
			wantCode(t, m.MethodName+" with "+name, err, codes.Unauthenticated, "TOKEN")
		}
		for i, s := range weaverv1.Coordinator_ServiceDesc.Streams {
			stream, err := conn.NewStream(ctx, &weaverv1.Coordinator_ServiceDesc.Streams[i], "/weaver.v1.Coordinator/"+s.StreamName)
			if err == nil {
				err = stream.RecvMsg(&weaverv1.WatchEvent{})
			}
			wantCode(t, s.StreamName+" with "+name, err, codes.Unauthenticated, "TOKEN")
		}
	}
	ctx := metadata.AppendToOutgoingContext(within(t), "authorization", "Bearer "+token)
	api := weaverv1.NewCoordinatorClient(conn)
	out, err := api.OpenSession(ctx, &weaverv1.OpenSessionRequest{Actor: "alice", Intent: &weaverv1.Intent{Objective: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	// The token is no session's secret.
	_, err = api.Moment(ctx, &weaverv1.MomentRequest{})
	wantCode(t, "Moment", err, codes.Unauthenticated, "CREDENTIAL")
	if _, err := api.Moment(metadata.AppendToOutgoingContext(ctx, server.MetadataKey, out.GetSecret()), &weaverv1.MomentRequest{}); err != nil {
		t.Errorf("Moment: %v", err)
	}
}

// TestOldTLS: nothing older than TLS 1.3 is spoken, and nothing without TLS.
func TestOldTLS(t *testing.T) {
	t.Parallel()
	ca := coordinatortest.NewAuthority(t)
	address := exposed(t, secured(ca))
	config := trusting(t, ca)
	conn, err := tls.Dial("tcp", address, config)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	config.MaxVersion = tls.VersionTLS12
	if conn, err := tls.Dial("tcp", address, config); err == nil {
		conn.Close()
		t.Error("TLS 1.2 is spoken")
	}
	plain, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	ctx := metadata.AppendToOutgoingContext(within(t), "authorization", "Bearer "+coordinatortest.Token)
	if _, err := weaverv1.NewCoordinatorClient(plain).Info(ctx, &weaverv1.InfoRequest{}); status.Code(err) != codes.Unavailable {
		t.Errorf("without TLS: %v", err)
	}
}

// TestUnguardedServer lets nobody in from a network, however it came to listen
// there.
func TestUnguardedServer(t *testing.T) {
	t.Parallel()
	c, err := coordinator.New(t.Context(), coordinator.Config{Journal: memjournal.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.New(c).Serve(ctx, l, 0) }()
	defer func() { cancel(); <-done }()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := weaverv1.NewCoordinatorClient(conn).Info(within(t), &weaverv1.InfoRequest{}); status.Code(err) != codes.Unavailable {
		t.Errorf("Info: %v; want no connection", err)
	}
}

// TestExposed: without everything that is needed nothing is served, and the
// journal is not touched.
func TestExposed(t *testing.T) {
	t.Parallel()
	ca := coordinatortest.NewAuthority(t)
	good := secured(ca)
	open := ca.Secret(coordinatortest.Token)
	if err := os.Chmod(open, 0o640); err != nil { //nolint:gosec // that is what is tested
		t.Fatal(err)
	}
	otherCert, _ := ca.Issue("127.0.0.1", time.Hour)
	openCert, openKey := ca.Issue("127.0.0.1", time.Hour)
	if err := os.Chmod(openKey, 0o644); err != nil { //nolint:gosec // that is what is tested
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		change func(*server.Security)
		want   string
	}{
		"nothing":              {func(s *server.Security) { *s = server.Security{} }, "a certificate, the certificate's key, a token"},
		"no certificate":       {func(s *server.Security) { s.CertFile = "" }, "not been given a certificate"},
		"no key":               {func(s *server.Security) { s.KeyFile = "" }, "the certificate's key"},
		"no token":             {func(s *server.Security) { s.TokenFile = "" }, "a token"},
		"two tokens":           {func(s *server.Security) { s.Token = coordinatortest.Token }, "two tokens"},
		"a missing token":      {func(s *server.Security) { s.TokenFile += "x" }, "read the token"},
		"a short token":        {func(s *server.Security) { s.TokenFile = ca.Secret("short") }, "openssl rand -hex 32"},
		"a short one, padded":  {func(s *server.Security) { s.TokenFile, s.Token = "", "short"+strings.Repeat(" ", 40) }, "5 bytes and needs 32"},
		"words":                {func(s *server.Security) { s.TokenFile = ca.Secret(strings.Repeat("word ", 10)) }, "printable ASCII"},
		"a long token":         {func(s *server.Security) { s.TokenFile = ca.Secret(strings.Repeat("x", 5000)) }, "more than"},
		"a dull token":         {func(s *server.Security) { s.TokenFile = ca.Secret(strings.Repeat("abcdefg", 10)) }, "can be guessed"},
		"a missing key":        {func(s *server.Security) { s.KeyFile += "x" }, "read the certificate's key"},
		"a key for everyone":   {func(s *server.Security) { s.CertFile, s.KeyFile = openCert, openKey }, "chmod 600 " + openKey},
		"another's key":        {func(s *server.Security) { s.CertFile = otherCert }, "read the certificate"},
		"a token for everyone": {func(s *server.Security) { s.TokenFile = open }, "chmod 600"},
		"an expired one":       {func(s *server.Security) { s.CertFile, s.KeyFile = ca.Issue("127.0.0.1", -time.Hour) }, "expired on"},
	} {
		if runtime.GOOS == "windows" && strings.HasSuffix(name, "for everyone") {
			continue // permission bits say nothing there
		}
		s := good
		x.change(&s)
		dir := filepath.Join(t.TempDir(), "state")
		err := server.Run(within(t), server.Config{Listen: "tcp://127.0.0.1:0", Security: s, Dir: dir})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v; want %q", name, err, x.want)
		}
		if err != nil && strings.Contains(err.Error(), coordinatortest.Token) {
			t.Errorf("%s: the error tells the token", name)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: a journal was made in vain", name)
		}
	}
	var missing *server.ExposedError
	if _, err := server.Listen(t.Context(), "tcp://127.0.0.1:0"); !errors.As(err, &missing) {
		t.Errorf("Listen: %v; want an ExposedError", err)
	}
	guard, err := server.NewGuard(good, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"unix:///s", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:", "tcp://[::1"} {
		if l, err := guard.Listen(t.Context(), address); err == nil {
			l.Close()
			t.Errorf("it listens on %q", address)
		}
	}
	if text := fmt.Sprintf("%+v", guard); strings.Contains(text, coordinatortest.Token) {
		t.Error("the guard prints the token")
	}
}

// TestCertificateOfAnotherHost is served, for runs may come by another name, and
// warned of, like one that ends soon.
func TestCertificateOfAnotherHost(t *testing.T) {
	t.Parallel()
	ca := coordinatortest.NewAuthority(t)
	for name, x := range map[string]struct {
		host string
		left time.Duration
		warn string
	}{
		"another host": {"weaver.example.com", 1000 * time.Hour, "weaver.example.com"},
		"ends soon":    {"127.0.0.1", time.Hour, "expires soon"},
		"good":         {"127.0.0.1", 1000 * time.Hour, ""},
	} {
		s := secured(ca)
		s.CertFile, s.KeyFile = ca.Issue(x.host, x.left)
		var log bytes.Buffer
		ctx, cancel := context.WithCancel(within(t))
		err := server.Run(ctx, server.Config{
			Listen: "tcp://127.0.0.1:0", Security: s, Dir: filepath.Join(t.TempDir(), "state"),
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Ready:  func(string, uint64) error { cancel(); return nil },
		})
		cancel()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		warned := strings.Contains(log.String(), "level=WARN")
		if warned != (x.warn != "") || !strings.Contains(log.String(), x.warn) {
			t.Errorf("%s: the log is %s", name, &log)
		}
	}
}

// TestConnectionsAreLimited: one too many is hung up on, until another ends.
func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := server.Limit(inner, 1)
	defer l.Close()
	accepted := make(chan net.Conn, 10)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	dial := func() net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	next := func() net.Conn {
		t.Helper()
		select {
		case conn := <-accepted:
			return conn
		case <-time.After(patience):
			t.Fatal("no connection is let in")
			return nil
		}
	}
	dial()
	first := next()
	if _, err := dial().Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("one too many: %v; want the end", err)
	}
	first.Close()
	first.Close() // gives its room back once
	dial()
	next().Close()
	if n := len(accepted); n != 0 {
		t.Errorf("%d connections too many", n)
	}
}

// TestIdentityIsTheCoordinators: how a session is known is not for itself to say.
func TestIdentityIsTheCoordinators(t *testing.T) {
	t.Parallel()
	api := serve(t)
	_, err := api.OpenSession(within(t), &weaverv1.OpenSessionRequest{
		Actor: "alice", Labels: map[string]string{coordinator.LabelIdentity: coordinator.IdentityClaimed, "k": "v"},
		Intent: &weaverv1.Intent{Objective: "test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := api.Status(within(t), &weaverv1.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if s := string(out.GetJson()); !strings.Contains(s, `"tfweaver/identity":"local"`) || !strings.Contains(s, `"k":"v"`) || strings.Contains(s, `"claimed":true`) {
		t.Errorf("the session is known as it said: %s", s)
	}
}
