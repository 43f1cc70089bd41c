// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

// exposed is a coordinator on the network.
type exposed struct {
	address string
	log     *syncBuffer
	stop    func()
}

// expose serves a store by TLS for a host until stop is called.
func expose(t *testing.T, store *memjournal.Store, listen string, security server.Security) *exposed {
	t.Helper()
	e := &exposed{log: &syncBuffer{}}
	log := slog.New(slog.NewTextHandler(e.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c, err := coordinator.New(t.Context(), coordinator.Config{Journal: store.Open(), Logger: log, Refresh: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := server.NewGuard(security, log)
	if err != nil {
		t.Fatal(err)
	}
	l, err := guard.Listen(t.Context(), listen)
	if err != nil {
		t.Fatal(err)
	}
	e.address = "tcp://" + l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.New(c, server.Guarded(guard)).Serve(ctx, l, 0) }()
	e.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if err := c.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	t.Cleanup(e.stop)
	return e
}

// syncBuffer is a log that is read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// security is good for a host.
func security(a *coordinatortest.Authority, host string, left time.Duration) server.Security {
	cert, key := a.Issue(host, left)
	return server.Security{CertFile: cert, KeyFile: key, Token: coordinatortest.Token}
}

func reach(t *testing.T, address string, c client.Credentials) *client.Client {
	t.Helper()
	conn, err := client.DialWithCredentials(within(t), address, c)
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestTwoRunsOverTheNetwork behave as on one machine, and are known by what
// they say of themselves only.
func TestTwoRunsOverTheNetwork(t *testing.T) {
	t.Parallel()
	ca := coordinatortest.NewAuthority(t)
	e := expose(t, memjournal.NewStore(), "tcp://127.0.0.1:0", security(ca, "127.0.0.1", time.Hour))
	credentials := client.Credentials{CAFile: ca.CAFile, Token: coordinatortest.Token + "\n"}
	c := reach(t, e.address, credentials)
	alice := open(t, c, client.SessionConfig{Actor: "alice", Labels: map[string]string{coordinator.LabelIdentity: coordinator.IdentityLocal, "k": "v"}})
	bob := open(t, reach(t, e.address, credentials), client.SessionConfig{Actor: "bob"})
	held := grant(t, alice, coordinatortest.Create("n", "a"))
	done, waits := wait(t, within(t), bob, coordinatortest.Create("n", "b"))
	if w := receive(t, "wait", waits); w.Report.Conflicts[0].Holder.Actor != "alice" {
		t.Errorf("waiting: %+v", w)
	}
	if err := alice.Senders(within(t), []coordinator.Process{{PID: 1, Started: "1"}}); err != nil {
		t.Errorf("Senders: %v", err)
	}
	finish(t, held)
	a := receive(t, "answer", done)
	if a.err != nil {
		t.Fatalf("Submit: %v", a.err)
	}
	finish(t, a.grant)
	st, err := c.Status(within(t))
	if err != nil || len(st.Sessions) != 2 {
		t.Fatalf("Status = %+v, %v", st, err)
	}
	for _, s := range st.Sessions {
		if !s.Claimed || s.Dead {
			t.Errorf("session %s is not marked as claimed, or dead: %+v", s.ID, s)
		}
	}
	if log := e.log.String(); strings.Contains(log, coordinatortest.Token) {
		t.Error("the token is in the log")
	}
}

// TestWhatIsWrong is said so that people can do something about it.
func TestWhatIsWrong(t *testing.T) {
	t.Parallel()
	ca, other := coordinatortest.NewAuthority(t), coordinatortest.NewAuthority(t)
	store := memjournal.NewStore
	good := expose(t, store(), "tcp://127.0.0.1:0", security(ca, "127.0.0.1", time.Hour))
	expired := expose(t, store(), "tcp://127.0.0.1:0", security(ca, "127.0.0.1", -time.Hour))
	misnamed := expose(t, store(), "tcp://127.0.0.1:0", security(ca, "coordinator.example", time.Hour))
	plain := listening(t, func(conn net.Conn) {
		fmt.Fprint(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
		conn.Close()
	})
	closed := listening(t, func(conn net.Conn) { conn.Close() })
	nobody := listening(t, nil)
	token := coordinatortest.Token
	for name, x := range map[string]struct {
		address string
		c       client.Credentials
		want    error
		says    string
	}{
		"no token":          {good.address, client.Credentials{CAFile: ca.CAFile}, client.ErrNoToken, good.address},
		"a broken token":    {good.address, client.Credentials{CAFile: ca.CAFile, Token: "a\nb"}, client.ErrNoToken, "characters"},
		"wrong token":       {good.address, client.Credentials{CAFile: ca.CAFile, Token: strings.Repeat("x", 40)}, client.ErrTokenRefused, "whoever runs it"},
		"a beginning":       {good.address, client.Credentials{CAFile: ca.CAFile, Token: token[:31]}, client.ErrTokenRefused, "whoever runs it"},
		"unknown authority": {good.address, client.Credentials{CAFile: other.CAFile, Token: token}, client.ErrCertificate, "vouches"},
		"the system's":      {good.address, client.Credentials{Token: token}, client.ErrCertificate, "vouches"},
		"no such file":      {good.address, client.Credentials{CAFile: ca.CAFile + "x", Token: token}, nil, "certificates to trust"},
		"no certificate":    {good.address, client.Credentials{CAFile: ca.Secret("nothing"), Token: token}, client.ErrCertificate, "PEM"},
		"expired":           {expired.address, client.Credentials{CAFile: ca.CAFile, Token: token}, client.ErrCertificate, "expired"},
		"another name":      {misnamed.address, client.Credentials{CAFile: ca.CAFile, Token: token}, client.ErrCertificate, "another name"},
		"plain text":        {plain, client.Credentials{CAFile: ca.CAFile, Token: token}, client.ErrPlaintext, "TLS"},
		"nobody":            {nobody, client.Credentials{CAFile: ca.CAFile, Token: token}, client.ErrUnreachable, "tfweaver serve --listen " + nobody},
		"hangs up":          {closed, client.Credentials{CAFile: ca.CAFile, Token: token}, client.ErrUnreachable, closed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := client.DialWithCredentials(within(t), x.address, x.c)
			if err == nil {
				c.Close()
				t.Fatal("it was let in")
			}
			if x.want != nil && !errors.Is(err, x.want) {
				t.Errorf("got %v; want %v", err, x.want)
			}
			if !strings.Contains(err.Error(), x.says) {
				t.Errorf("%q does not say %q", err, x.says)
			}
			if x.c.Token != "" && strings.Contains(err.Error(), x.c.Token) {
				t.Errorf("%q tells the token", err)
			}
		})
	}
}

// listening answers each connection with f, or with nothing when f is nil and
// nobody listens.
func listening(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "tcp://" + l.Addr().String()
	if f == nil {
		l.Close()
		return address
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			f(conn)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return address
}

// TestSecretsDoNotPrint: credentials end up in logs and in messages.
func TestSecretsDoNotPrint(t *testing.T) {
	t.Parallel()
	c := client.Credentials{CAFile: "ca.pem", Token: coordinatortest.Token}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "credentials", c)
	for _, text := range []string{fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %s", c, c, c, c), log.String()} {
		if strings.Contains(text, c.Token) {
			t.Errorf("%s", text)
		}
	}
}

// TestNetworkRestart: a coordinator that comes back within the lease is noticed
// as a delay only, also over the network.
func TestNetworkRestart(t *testing.T) {
	t.Parallel()
	ca := coordinatortest.NewAuthority(t)
	s := security(ca, "127.0.0.1", time.Hour)
	store := memjournal.NewStore()
	e := expose(t, store, "tcp://127.0.0.1:0", s)
	alice := open(t, reach(t, e.address, client.Credentials{CAFile: ca.CAFile, Token: coordinatortest.Token}), client.SessionConfig{Actor: "alice"})
	held := grant(t, alice, coordinatortest.Create("n", "a"))
	e.stop()
	put := make(chan error, 1)
	go func() { put <- held.Start(within(t)) }()
	expose(t, store, e.address, s)
	if err := receive(t, "answer to Start", put); err != nil {
		t.Fatalf("Start: %v", err)
	}
	if err := held.Complete(within(t), client.Outcome{Result: admission.Succeeded, Exists: true}); err != nil {
		t.Fatalf("Complete: %v", err)
	}
}

// TestSelfSignedCertificate is enough where there is no authority: whoever has
// it trusts it, and nobody else.
func TestSelfSignedCertificate(t *testing.T) {
	t.Parallel()
	cert, key := coordinatortest.SelfSigned(t, "127.0.0.1")
	_, otherKey := coordinatortest.SelfSigned(t, "127.0.0.1")
	if _, err := server.NewGuard(server.Security{CertFile: cert, KeyFile: otherKey, Token: coordinatortest.Token}, nil); err == nil {
		t.Error("a certificate is served with another one's key")
	}
	e := expose(t, memjournal.NewStore(), "tcp://127.0.0.1:0", server.Security{CertFile: cert, KeyFile: key, Token: coordinatortest.Token})
	reach(t, e.address, client.Credentials{CAFile: cert, Token: coordinatortest.Token})
	other, _ := coordinatortest.SelfSigned(t, "127.0.0.1")
	_, err := client.DialWithCredentials(within(t), e.address, client.Credentials{CAFile: other, Token: coordinatortest.Token})
	wantError(t, "Dial with another certificate", err, client.ErrCertificate)
}

// TestIPv6 is written in brackets.
func TestIPv6(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Logf("no IPv6 here: %v", err)
		return
	}
	l.Close()
	ca := coordinatortest.NewAuthority(t)
	e := expose(t, memjournal.NewStore(), "tcp://[::1]:0", security(ca, "::1", time.Hour))
	reach(t, e.address, client.Credentials{CAFile: ca.CAFile, Token: coordinatortest.Token})
}
