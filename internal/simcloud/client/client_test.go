// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
	"github.com/tfweaver/tfweaver/internal/simcloud/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	groupID  = arm.GroupID(arm.DefaultSubscription, "g")
	netID    = arm.TopID(arm.VirtualNetwork, arm.DefaultSubscription, "g", "v")
	subnetID = arm.ChildID(arm.Subnet, arm.DefaultSubscription, "g", "v", "a")
	located  = arm.Resource{Location: "north"}
	space    = arm.Resource{Location: "north", Properties: arm.Properties{AddressSpace: &arm.AddressSpace{AddressPrefixes: []string{"10.0.0.0/16"}}}}
)

func newCloud(t *testing.T, cfg simcloud.Config) (*simcloud.Cloud, string) {
	t.Helper()
	if cfg.Scale == 0 {
		cfg.Scale = 0.001
	}
	cloud, err := simcloud.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(cloud.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	return cloud, server.URL
}

func newClient(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	if cfg.PollInterval == 0 {
		cfg.PollInterval = time.Millisecond
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestPutGetListDelete(t *testing.T) {
	t.Parallel()
	cloud, url := newCloud(t, simcloud.Config{Tokens: map[string]string{"alice": "t"}})
	c := newClient(t, client.Config{Endpoint: url, Actor: "alice", Token: "t", UserAgent: "test/1", CorrelationID: "run-1"})
	r, err := c.Put(t.Context(), groupID, located, "")
	if err != nil || r.Properties.ProvisioningState != arm.Succeeded {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := c.Put(t.Context(), netID, space, ""); err != nil {
		t.Fatal(err)
	}
	list, err := c.List(t.Context(), groupID.String()+"/providers/Microsoft.Network/virtualNetworks")
	if err != nil || len(list) != 1 || list[0].Name != "v" {
		t.Errorf("%+v, %v", list, err)
	}
	for range 2 { // the second time there is nothing to delete
		if err := c.Delete(t.Context(), netID, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Delete(t.Context(), arm.GroupID(arm.DefaultSubscription, "g"), ""); err != nil {
		t.Error(err)
	}
	if err := c.Delete(t.Context(), netID, ""); err != nil { // even its group is gone
		t.Error(err)
	}
	if _, err := c.Get(t.Context(), netID); !client.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	for _, e := range cloud.Events() {
		if e.Actor != "alice" || e.UserAgent != "test/1" || e.CorrelationID != "run-1" || e.RequestID == "" {
			t.Errorf("event %+v", e)
		}
	}
}

func TestARefusalIsAnError(t *testing.T) {
	t.Parallel()
	_, url := newCloud(t, simcloud.Config{})
	c := newClient(t, client.Config{Endpoint: url})
	_, err := c.Put(t.Context(), netID, space, "")
	var e *arm.Error
	if !errors.As(err, &e) || e.Code != arm.CodeResourceGroupNotFound || e.HTTPStatus != 404 || e.Target != netID.String() {
		t.Errorf("got %v", err)
	}
	if _, err := c.Put(t.Context(), groupID, located, "W/\"0\""); !errors.As(err, &e) || e.HTTPStatus != http.StatusPreconditionFailed {
		t.Errorf("got %v", err)
	}
}

func TestAFailedOperationIsAnOperationError(t *testing.T) {
	t.Parallel()
	cloud, url := newCloud(t, simcloud.Config{})
	cloud.FailNext(groupID, "Odd", "no luck")
	c := newClient(t, client.Config{Endpoint: url})
	r, err := c.Put(t.Context(), groupID, located, "")
	var oe *client.OperationError
	var e *arm.Error
	if !errors.As(err, &oe) || !errors.As(err, &e) || e.Code != "Odd" || !oe.Ended() || oe.OperationID == "" || r.ID != groupID.String() {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestConflictsAreRetriedOnlyOnRequest(t *testing.T) {
	t.Parallel()
	cloud, url := newCloud(t, simcloud.Config{Latencies: map[string]time.Duration{"virtual_network.update": 200 * time.Second}})
	patient := newClient(t, client.Config{Endpoint: url, ConflictRetries: 50})
	hasty := newClient(t, client.Config{Endpoint: url})
	if _, err := hasty.Put(t.Context(), groupID, located, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := hasty.Put(t.Context(), netID, space, ""); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := patient.Put(t.Context(), netID, space, "")
		done <- err
	}()
	waitFor(t, func() bool { return cloud.InFlight() == 1 })
	prefix := arm.Resource{Properties: arm.Properties{AddressPrefix: "10.0.1.0/24"}}
	var e *arm.Error
	if _, err := hasty.Put(t.Context(), subnetID, prefix, ""); !errors.As(err, &e) || e.Code != arm.CodeAnotherOperationInProgress || e.Blocking == "" {
		t.Errorf("got %v", err)
	}
	if _, err := patient.Put(t.Context(), subnetID, prefix, ""); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited for a minute")
		}
	}
}

func TestThrottledWritesAreSentAgain(t *testing.T) {
	t.Parallel()
	cloud, url := newCloud(t, simcloud.Config{})
	cloud.ThrottleNext(1)
	if _, err := newClient(t, client.Config{Endpoint: url}).Put(t.Context(), groupID, located, ""); err != nil {
		t.Error(err)
	}
	cloud.ThrottleNext(1)
	_, err := newClient(t, client.Config{Endpoint: url, ThrottleRetries: -1}).Put(t.Context(), groupID, located, "")
	var e *arm.Error
	if !errors.As(err, &e) || e.HTTPStatus != 429 || e.RetryAfter != time.Second {
		t.Errorf("got %v", err)
	}
	log, err := activity.Pair(cloud.Events())
	if err != nil || log.RefusedWith("TooManyRequests") != 2 {
		t.Errorf("%+v, %v", log.Refused, err)
	}
}

func TestACanceledContextLeavesTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	cloud, url := newCloud(t, simcloud.Config{Scale: 1000})
	c := newClient(t, client.Config{Endpoint: url})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.Put(ctx, groupID, located, "")
		done <- err
	}()
	waitFor(t, func() bool { return cloud.InFlight() == 1 })
	cancel()
	var oe *client.OperationError
	// The cancellation may also hit the answer to the write itself.
	if err := <-done; !errors.Is(err, context.Canceled) || errors.As(err, &oe) && oe.Ended() {
		t.Errorf("got %v", err)
	}
}

func TestUnixSocket(t *testing.T) {
	t.Parallel()
	cloud, err := simcloud.New(simcloud.Config{Scale: 0.001})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "sim") // a socket path must be short
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(cloud.Handler())
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	server.Listener = l
	server.Start()
	t.Cleanup(func() {
		server.Close()
		if err := errors.Join(cloud.Close(), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	if _, err := newClient(t, client.Config{Endpoint: "unix://" + path}).Put(t.Context(), groupID, located, ""); err != nil {
		t.Error(err)
	}
}

// TestTheTokenStaysWithTheEndpoint lets a server name another host as the place
// to poll and as a redirect.
func TestTheTokenStaysWithTheEndpoint(t *testing.T) {
	t.Parallel()
	var elsewhere, polls atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut:
			w.Header().Set(arm.HeaderAsyncOperation, other.URL+"/poll/1")
			w.WriteHeader(http.StatusAccepted)
		case strings.HasPrefix(r.URL.Path, "/poll/"):
			polls.Add(1)
			http.Redirect(w, r, other.URL+"/stolen", http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(server.Close)
	c := newClient(t, client.Config{Endpoint: server.URL, Token: "t"})
	if _, err := c.Put(t.Context(), groupID, located, ""); err == nil {
		t.Error("a redirected poll is no success")
	}
	if elsewhere.Load() != 0 || polls.Load() == 0 {
		t.Errorf("%d requests went to another host, %d polls to the endpoint", elsewhere.Load(), polls.Load())
	}
}

func TestAnswersThatAreNoErrorBodies(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte("nonsense"))
			return
		}
		http.Error(w, "down", http.StatusBadGateway)
	}))
	t.Cleanup(server.Close)
	c := newClient(t, client.Config{Endpoint: server.URL})
	var e *arm.Error
	if _, err := c.Put(t.Context(), groupID, located, ""); !errors.As(err, &e) || e.Code != "BadGateway" {
		t.Errorf("got %v", err)
	}
	if _, err := c.Get(t.Context(), groupID); err == nil || errors.As(err, new(*arm.Error)) {
		t.Errorf("got %v", err)
	}
}

func TestBadConfig(t *testing.T) {
	t.Parallel()
	for _, cfg := range []client.Config{
		{},
		{Endpoint: "localhost:1"},
		{Endpoint: "ftp://x"},
		{Endpoint: "unix://"},
		{Endpoint: "http://"},
		{Endpoint: "http://%"},
		{Endpoint: "http://x", PollInterval: -1},
		{Endpoint: "http://x", ConflictRetries: -1},
	} {
		if _, err := client.New(cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}
