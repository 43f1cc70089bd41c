// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 30 * time.Second

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// folder is short enough for a socket.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "weaver")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// serve runs a server and returns a connection to it.
func serve(t *testing.T) weaverv1.CoordinatorClient {
	t.Helper()
	c, err := coordinator.New(t.Context(), coordinator.Config{Journal: memjournal.New(), Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	address := "unix://" + filepath.Join(folder(t), "s")
	l, err := server.Listen(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.New(c).Serve(ctx, l, 0) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if err := c.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return weaverv1.NewCoordinatorClient(conn)
}

// open opens a session and returns a context that acts for it.
func open(t *testing.T, api weaverv1.CoordinatorClient, actor string) context.Context {
	t.Helper()
	out, err := api.OpenSession(within(t), &weaverv1.OpenSessionRequest{
		Actor: actor, Intent: &weaverv1.Intent{Objective: "test"},
	})
	if err != nil {
		t.Fatalf("OpenSession: %v", err)
	}
	return metadata.AppendToOutgoingContext(within(t), server.MetadataKey, out.GetSecret())
}

func submitOf(t *testing.T, r admission.Request) *weaverv1.SubmitRequest {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return &weaverv1.SubmitRequest{Request: &weaverv1.Request{Json: data}}
}

func first(t *testing.T, ctx context.Context, api weaverv1.CoordinatorClient, in *weaverv1.SubmitRequest) (*weaverv1.Decision, error) {
	t.Helper()
	stream, err := api.Submit(ctx, in)
	if err != nil {
		return nil, err
	}
	return stream.Recv()
}

// wantCode checks the code and the reason that clients decide on.
func wantCode(t *testing.T, what string, err error, code codes.Code, reason string) {
	t.Helper()
	st := status.Convert(err)
	got := ""
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == "tfweaver" {
			got = info.GetReason()
		}
	}
	if st.Code() != code || got != reason {
		t.Errorf("%s: %s (%s) %q; want %s (%s)", what, st.Code(), got, st.Message(), code, reason)
	}
}

// TestSessionMustBeProven: no method that acts for a session does so without
// its credential.
func TestSessionMustBeProven(t *testing.T) {
	t.Parallel()
	api := serve(t)
	open(t, api, "alice")
	for name, ctx := range map[string]context.Context{
		"none":   within(t),
		"forged": metadata.AppendToOutgoingContext(within(t), server.MetadataKey, "alice-0000.AAAA"),
		"twice":  metadata.AppendToOutgoingContext(open(t, api, "bob"), server.MetadataKey, "x"),
	} {
		calls := map[string]func() error{
			"Start":        func() error { _, err := api.Start(ctx, &weaverv1.StartRequest{}); return err },
			"Complete":     func() error { _, err := api.Complete(ctx, &weaverv1.CompleteRequest{}); return err },
			"Withdraw":     func() error { _, err := api.Withdraw(ctx, &weaverv1.WithdrawRequest{}); return err },
			"Observe":      func() error { _, err := api.Observe(ctx, &weaverv1.ObserveRequest{}); return err },
			"Lookup":       func() error { _, err := api.Lookup(ctx, &weaverv1.LookupRequest{}); return err },
			"Forecast":     func() error { _, err := api.Forecast(ctx, &weaverv1.ForecastRequest{}); return err },
			"CloseSession": func() error { _, err := api.CloseSession(ctx, &weaverv1.CloseSessionRequest{}); return err },
			"AddIntent":    func() error { _, err := api.AddIntent(ctx, &weaverv1.AddIntentRequest{}); return err },
			"Submit":       func() error { _, err := first(t, ctx, api, &weaverv1.SubmitRequest{}); return err },
			"Heartbeat": func() error {
				stream, err := api.Heartbeat(ctx)
				if err == nil {
					_, err = stream.Recv()
				}
				return err
			},
		}
		for method, call := range calls {
			wantCode(t, method+"/"+name, call(), codes.Unauthenticated, "CREDENTIAL")
		}
	}
}

// TestReasons: clients can decide on what went wrong.
func TestReasons(t *testing.T) {
	t.Parallel()
	api := serve(t)
	alice, bob := open(t, api, "alice"), open(t, api, "bob")
	r := coordinatortest.Create("n", "a")
	r.Key = 1
	d, err := first(t, alice, api, submitOf(t, r))
	if err != nil || d.GetStatus() != "admitted" {
		t.Fatalf("Submit = %v, %v", d, err)
	}
	other := coordinatortest.Create("n", "b")
	other.Key = 1
	_, err = first(t, alice, api, submitOf(t, other))
	wantCode(t, "key reused", err, codes.InvalidArgument, "KEY_REUSED")
	_, err = api.Start(bob, &weaverv1.StartRequest{Tx: d.GetTx(), Token: d.GetToken()})
	wantCode(t, "foreign", err, codes.PermissionDenied, "FOREIGN_TRANSACTION")
	_, err = api.Start(alice, &weaverv1.StartRequest{Tx: d.GetTx(), Token: d.GetToken() + 1})
	wantCode(t, "token", err, codes.PermissionDenied, "WRONG_TOKEN")
	_, err = api.Start(alice, &weaverv1.StartRequest{Tx: "t999"})
	wantCode(t, "unknown", err, codes.NotFound, "NO_TRANSACTION")
	_, err = api.Resolve(within(t), &weaverv1.ResolveRequest{Tx: d.GetTx(), Actor: "x", Reason: "y"})
	wantCode(t, "status", err, codes.FailedPrecondition, "WRONG_STATUS")
	broken := coordinatortest.Create("n", "c")
	broken.Nodes = broken.Nodes[1:] // the realm is not placed, nor known
	broken.Nodes[0].Parent = "elsewhere"
	_, err = first(t, alice, api, submitOf(t, broken))
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("misplaced: %v", err)
	}
	if _, err = api.CloseSession(bob, &weaverv1.CloseSessionRequest{}); err != nil {
		t.Fatal(err)
	}
	_, err = first(t, bob, api, submitOf(t, coordinatortest.Create("n9", "z")))
	wantCode(t, "closed", err, codes.FailedPrecondition, "NO_SESSION")
}

// TestInputIsBounded: nobody can make the coordinator keep much for them.
func TestInputIsBounded(t *testing.T) {
	t.Parallel()
	api := serve(t)
	alice := open(t, api, "alice")
	long := strings.Repeat("x", 10000)
	labels := map[string]string{}
	for i := range 100 {
		labels[fmt.Sprint(i)] = "v"
	}
	for name, in := range map[string]*weaverv1.OpenSessionRequest{
		"no actor":   {},
		"actor":      {Actor: long},
		"labels":     {Actor: "a", Labels: labels},
		"objective":  {Actor: "a", Intent: &weaverv1.Intent{Objective: long}},
		"links":      {Actor: "a", Intent: &weaverv1.Intent{Links: make([]string, 100)}},
		"no lease":   {Actor: "a", LeaseMs: -1},
		"long lease": {Actor: "a", LeaseMs: 1 << 50},
		"policy":     {Actor: "a", Policy: "perhaps"},
	} {
		if _, err := api.OpenSession(within(t), in); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := first(t, alice, api, &weaverv1.SubmitRequest{Request: &weaverv1.Request{Json: []byte("{")}}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("broken JSON: %v", err)
	}
	if _, err := first(t, alice, api, &weaverv1.SubmitRequest{}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("no request: %v", err)
	}
	huge := &weaverv1.ObserveRequest{Nodes: make([]byte, 40<<20)}
	if _, err := api.Observe(alice, huge); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("40 MiB: %v", err)
	}
}

// TestHangingUpDoesNotWithdraw: a transaction waits on, and its place is kept.
func TestHangingUpDoesNotWithdraw(t *testing.T) {
	t.Parallel()
	api := serve(t)
	alice, bob := open(t, api, "alice"), open(t, api, "bob")
	held, err := first(t, alice, api, submitOf(t, coordinatortest.Create("n", "a")))
	if err != nil {
		t.Fatal(err)
	}
	r := coordinatortest.Create("n", "b")
	r.Key = 1
	ctx, hangUp := context.WithCancel(bob)
	waits, err := first(t, ctx, api, submitOf(t, r))
	if err != nil || waits.GetStatus() != "queued" || !waits.GetForeign() || len(waits.GetReport()) == 0 {
		t.Fatalf("Submit = %v, %v", waits, err)
	}
	hangUp()
	if _, err := api.Withdraw(alice, &weaverv1.WithdrawRequest{Tx: held.GetTx()}); err != nil {
		t.Fatal(err)
	}
	again, err := first(t, bob, api, submitOf(t, r))
	if err != nil || again.GetTx() != waits.GetTx() || again.GetStatus() != "admitted" {
		t.Errorf("Submit = %v, %v; want %s admitted", again, err, waits.GetTx())
	}
}

// TestServeEndsAtOnce: streams that are open do not hold up the end.
func TestServeEndsAtOnce(t *testing.T) {
	t.Parallel()
	c, err := coordinator.New(t.Context(), coordinator.Config{Journal: memjournal.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	address := "unix://" + filepath.Join(folder(t), "s")
	l, err := server.Listen(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.New(c).Serve(ctx, l, 0) }()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	api := weaverv1.NewCoordinatorClient(conn)
	alice := open(t, api, "alice")
	beats, err := api.Heartbeat(alice)
	if err != nil {
		t.Fatal(err)
	}
	if err := beats.Send(&weaverv1.HeartbeatRequest{}); err != nil {
		t.Fatal(err)
	}
	if beat, err := beats.Recv(); err != nil || beat.GetLeaseLeftMs() <= 0 {
		t.Fatalf("Heartbeat = %v, %v", beat, err)
	}
	watch, err := api.Watch(within(t), &weaverv1.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Header(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	_, err = watch.Recv()
	wantCode(t, "Watch", err, codes.Unavailable, "UNAVAILABLE")
	_, err = beats.Recv()
	wantCode(t, "Heartbeat", err, codes.Unavailable, "UNAVAILABLE")
}

// TestListen: only private sockets in private folders.
func TestListen(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for address, want := range map[string]string{
		"tcp://127.0.0.1:0":                          "does not listen on a network without TLS and a token",
		"https://example.com":                        "unix:///path",
		"/a/path":                                    "unix:///path",
		"unix://relative/s":                          "absolute",
		"unix:///" + strings.Repeat("long/", 40):     "shorter",
		"unix://" + filepath.Join(dir, "no", "\x00"): "",
	} {
		l, err := server.Listen(t.Context(), address)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Listen(%q): %v; want %q", address, err, want)
		}
	}
	path := filepath.Join(dir, "deep", "s")
	l, err := server.Listen(t.Context(), "unix://"+path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s has mode %v, %v; want %v", name, info.Mode(), err, want)
			}
		}
	}
	if _, err := server.Listen(t.Context(), "unix://"+path); err == nil || !strings.Contains(err.Error(), "another process listens") {
		t.Errorf("a second Listen: %v", err)
	}
	l.Close() // leaves the socket, as a killed process does
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("Close removed the socket: %v", err)
	}
	again, err := server.Listen(t.Context(), "unix://"+path)
	if err != nil {
		t.Fatalf("Listen in place of a dead socket: %v", err)
	}
	again.Close()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Listen(t.Context(), "unix://"+plain); err == nil {
		t.Error("a plain file was replaced")
	}
}

// TestListenRefusesSharedFolders: whoever can write there could take the
// socket's place.
func TestListenRefusesSharedFolders(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Log("permission bits say nothing here")
		return
	}
	for name, mode := range map[string]fs.FileMode{"a group's": 0o770, "everybody's": 0o777 | fs.ModeSticky} {
		dir := folder(t)
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		l, err := server.Listen(t.Context(), "unix://"+filepath.Join(dir, "s"))
		if err == nil {
			l.Close()
			t.Fatalf("%s folder was taken", name)
		}
		// To close a folder that others use may break their programs.
		if strings.Contains(err.Error(), "chmod") || !strings.Contains(err.Error(), "only you can write to") {
			t.Errorf("%s folder: %v", name, err)
		}
		journal := filepath.Join(folder(t), "journal")
		if err := server.Run(within(t), server.Config{Listen: "unix://" + filepath.Join(dir, "s"), Dir: journal}); err == nil {
			t.Errorf("%s folder was served", name)
		}
		if _, err := os.Stat(journal); err == nil {
			t.Error("a journal was made in vain")
		}
		_, better, _ := strings.Cut(err.Error(), "such as ")
		l, err = server.Listen(t.Context(), better)
		if err != nil {
			t.Fatalf("the suggestion %q does not work: %v", better, err)
		}
		l.Close()
	}
}

// TestRun: a daemon from beginning to end, with its journal.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	ready := make(chan string, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	config := server.Config{
		Listen: "unix://" + filepath.Join(dir, "s"), Dir: filepath.Join(dir, "state"), Version: "1",
		Ready: func(address string, _ uint64) error { ready <- address; return nil },
	}
	go func() { done <- server.Run(ctx, config) }()
	select {
	case address := <-ready:
		conn, err := net.Dial("unix", strings.TrimPrefix(address, "unix://"))
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	case err := <-done:
		t.Fatalf("Run: %v", err)
	}
	second := config
	second.LeadWithin = 50 * time.Millisecond
	second.Listen = "unix://" + filepath.Join(dir, "other")
	err := server.Run(within(t), second)
	var inUse *server.InUseError
	if !errors.As(err, &inUse) || !errors.Is(err, journal.ErrInUse) {
		t.Fatalf("a second Run: %v; want the journal in use", err)
	}
	if inUse.Dir != config.Dir || inUse.Leader.PID != os.Getpid() || inUse.Leader.Address != config.Listen {
		t.Errorf("the journal is led by %+v", inUse)
	}
	for _, want := range []string{config.Dir, strconv.Itoa(os.Getpid()), config.Listen} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "s")); err == nil {
		t.Error("the socket was left behind")
	}
	if l, ok, err := server.ReadLeader(config.Dir); ok || err != nil {
		t.Errorf("%+v is still said to lead, %v", l, err)
	}
	idle := config
	idle.IdleExit = 20 * time.Millisecond
	if err := server.Run(within(t), idle); err != nil {
		t.Errorf("Run until idle: %v", err)
	}
}

// TestIdleWaitsForSessions: a session that lost its connection may come back
// within its lease, so nobody being connected is not enough.
func TestIdleWaitsForSessions(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	address := "unix://" + filepath.Join(dir, "s")
	ready := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- server.Run(t.Context(), server.Config{
			Listen: address, Dir: filepath.Join(dir, "state"), IdleExit: 300 * time.Millisecond,
			Ready: func(string, uint64) error { close(ready); return nil },
		})
	}()
	<-ready
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	opened := time.Now()
	_, err = weaverv1.NewCoordinatorClient(conn).OpenSession(within(t), &weaverv1.OpenSessionRequest{Actor: "alice", LeaseMs: 1500})
	conn.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
	if took := time.Since(opened); took < 1500*time.Millisecond {
		t.Errorf("it ended after %s, within the lease", took)
	}
}
