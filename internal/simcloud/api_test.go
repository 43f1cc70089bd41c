// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// web is a lab behind HTTP.
type web struct {
	*lab
	url    string
	client *http.Client
}

func newWeb(t *testing.T, cfg simcloud.Config) *web {
	t.Helper()
	l := newLab(t, cfg)
	server := httptest.NewServer(l.cloud.Handler())
	t.Cleanup(server.Close)
	// Its own client: with the shared one a connection to a server that has ended
	// could be taken for one to a server on the same port.
	return &web{l, server.URL, server.Client()}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (w *web) do(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	a, err := w.try(t.Context(), method, path, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// try is do without a test to fail, for another goroutine.
func (w *web) try(ctx context.Context, method, path, body string, headers ...string) (answer, error) {
	url := path
	if !strings.HasPrefix(path, "http") {
		url = w.url + path
	}
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(text)}, err
}

func decode[T any](t *testing.T, a answer) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%d %q: %v", a.status, a.body, err)
	}
	return v
}

func TestAWriteOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWeb(t, simcloud.Config{})
	a := w.do(t, "PUT", groupPath+"?api-version=2030-01-01", `{"location":"north"}`, arm.HeaderActor, "alice", arm.HeaderRequestID, "r-1", "User-Agent", "test/1")
	if a.status != 201 || a.header.Get(arm.HeaderRequestID) != "r-1" {
		t.Fatalf("got %+v", a)
	}
	poll := a.header.Get(arm.HeaderAsyncOperation)
	if s := decode[arm.OperationStatus](t, w.do(t, "GET", poll, "")); s.Status != arm.OperationInProgress || s.EndTime != nil {
		t.Errorf("status %+v", s)
	}
	w.settle()
	if s := decode[arm.OperationStatus](t, w.do(t, "GET", poll, "")); s.Status != arm.OperationSucceeded || s.EndTime == nil || s.EndTime.Sub(s.StartTime) != 2200*time.Millisecond {
		t.Errorf("status %+v", s)
	}
	r := decode[arm.Resource](t, w.do(t, "GET", strings.ToUpper(groupPath[:20])+groupPath[20:], ""))
	if r.ID != groupPath || r.Properties.ProvisioningState != arm.Succeeded || r.Etag == "" {
		t.Errorf("read %+v", r)
	}
	if a := w.do(t, "PUT", groupPath, `{"location":"north","tags":{"a":"b"}}`); a.status != 202 {
		t.Errorf("an update is answered with %d", a.status)
	}
	w.settle()
	if a := w.do(t, "DELETE", groupPath, ""); a.status != 202 || a.body != "" || a.header.Get(arm.HeaderAsyncOperation) == "" {
		t.Errorf("a deletion is answered with %+v", a)
	}
	w.settle()
	if a := w.do(t, "GET", groupPath, ""); a.status != 404 {
		t.Errorf("a deleted group is answered with %d", a.status)
	}
	if e := w.cloud.Events()[0]; e.Actor != "alice" || e.UserAgent != "test/1" || e.RequestID != "r-1" {
		t.Errorf("log: %+v", e)
	}
}

func TestErrorsOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWeb(t, simcloud.Config{})
	w.built(group(), network())
	w.must(w.send(network()))
	a := w.do(t, "PUT", subnetPath+"a", `{"properties":{"addressPrefix":"10.0.1.0/24"}}`)
	e := decode[arm.ErrorBody](t, a).Error
	if a.status != 409 || e.Code != arm.CodeAnotherOperationInProgress || e.Target != subnetPath+"a" || len(e.Details) != 1 {
		t.Errorf("got %d %+v", a.status, e)
	}
	w.cloud.ThrottleNext(1)
	if a := w.do(t, "DELETE", netPath, ""); a.status != 429 || a.header.Get("Retry-After") != "1" {
		t.Errorf("got %+v", a)
	}
	if a := w.do(t, "PUT", groupPath, strings.Repeat(" ", 1<<20+1)); a.status != 413 {
		t.Errorf("a body that is too large is answered with %d", a.status)
	}
	for path, status := range map[string]int{
		"/subscriptions/x": 400, netPath + "x": 404, subnetPath + "x": 404, netPath + "x/subnets": 404,
		"/subscriptions/" + arm.DefaultSubscription + "/providers/Microsoft.Network/locations/simulated/operations/x": 404,
	} {
		if a := w.do(t, "GET", path, ""); a.status != status {
			t.Errorf("GET %s is answered with %d; want %d", path, a.status, status)
		}
	}
	if log := w.log(); len(log.Refused) != 3 {
		t.Errorf("refused: %+v", log.Refused)
	}
}

func TestCollections(t *testing.T) {
	t.Parallel()
	w := newWeb(t, simcloud.Config{})
	w.built(group(), network(), subnet("b", "10.0.2.0/24"), subnet("a", "10.0.1.0/24"), pip("p"), thing{outside, group().r})
	names := func(path string) []string {
		got := []string{}
		for _, r := range decode[arm.ResourceList](t, w.do(t, "GET", path, "")).Value {
			got = append(got, r.Name)
		}
		return got
	}
	base := "/subscriptions/" + arm.DefaultSubscription + "/resourceGroups"
	for path, want := range map[string][]string{
		base: {"g", "h"}, netPath + "/subnets": {"a", "b"},
		groupPath + "/providers/Microsoft.Network/virtualNetworks": {"v"},
		outside + "/providers/Microsoft.Network/virtualNetworks":   {},
	} {
		if diff := cmp.Diff(want, names(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	w := newWeb(t, simcloud.Config{Tokens: map[string]string{"alice": "secret-a", "bob": "secret-b"}})
	body := `{"location":"north"}`
	for _, c := range []struct {
		name    string
		headers []string
		actor   string // empty: refused
	}{
		{"no token", nil, ""},
		{"actor without token", []string{arm.HeaderActor, "alice"}, ""},
		{"wrong token", []string{arm.HeaderActor, "alice", "Authorization", "Bearer secret"}, ""},
		{"another's token", []string{arm.HeaderActor, "alice", "Authorization", "Bearer secret-b"}, ""},
		{"another scheme", []string{arm.HeaderActor, "alice", "Authorization", "Basic secret-a"}, ""},
		{"token alone", []string{"Authorization", "Bearer secret-b"}, "bob"},
		{"own token", []string{arm.HeaderActor, "alice", "Authorization", "bearer secret-a"}, "alice"},
	} {
		before := len(w.cloud.Events())
		a := w.do(t, "PUT", groupPath, body, c.headers...)
		if c.actor == "" {
			if a.status != 401 || w.do(t, "GET", groupPath, "", c.headers...).status != 401 {
				t.Errorf("%s: got %d", c.name, a.status)
			}
		} else if got := w.cloud.Events()[before].Actor; a.status >= 400 || got != c.actor {
			t.Errorf("%s: got %d as %q", c.name, a.status, got)
		}
		w.settle()
	}
	if n := w.log().RefusedWith("InvalidAuthenticationToken"); n != 5 {
		t.Errorf("%d refused calls in the log; want 5", n)
	}
	for _, e := range w.cloud.Events() {
		if line, err := json.Marshal(e); err != nil || bytes.Contains(line, []byte("secret")) {
			t.Errorf("a secret is in the log: %s, %v", line, err)
		}
	}
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	w := newWeb(t, simcloud.Config{AdminToken: "root"})
	admin := func(method, path, body string) answer {
		return w.do(t, method, path, body, "Authorization", "Bearer root")
	}
	for _, token := range []string{"", "Bearer ", "Bearer wrong"} {
		if a := w.do(t, "POST", "/admin/reset", "", "Authorization", token); a.status != 401 {
			t.Errorf("token %q: got %d", token, a.status)
		}
	}
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"PUT", "/admin/latency", `{"subnet":"1s","public_ip.create":"2s"}`, 204},
		{"PUT", "/admin/latency", `{"subnet":"9s","disk":"1s"}`, 400},
		{"PUT", "/admin/latency", `{"subnet":"long"}`, 400},
		{"PUT", "/admin/supersede", `{"enabled":true}`, 204},
		{"PUT", "/admin/supersede", `nonsense`, 400},
		{"POST", "/admin/fail-next", `{"object_id":"` + pipPath + `p","code":"Odd","message":"m"}`, 204},
		{"POST", "/admin/fail-next", `{"object_id":"x"}`, 400},
		{"PUT", "/admin/quota", `{"north":4,"north/standardBSFamily":2}`, 204},
		{"PUT", "/admin/quota", `{"north":9,"north/none":1}`, 400},
		{"PUT", "/admin/quota", `{"north":-1}`, 400},
		{"POST", "/admin/fault", `{"type":"public_ip","latency":"1h"}`, 204},
		{"POST", "/admin/fault", `{"type":"public_ip"}`, 400},
		{"DELETE", "/admin/faults", "", 204},
		{"GET", "/admin/none", "", 404},
		{"GET", "/admin/reset", "", 405},
	} {
		if a := admin(c.method, c.path, c.body); a.status != c.status {
			t.Errorf("%s %s %s: got %d %s; want %d", c.method, c.path, c.body, a.status, a.body, c.status)
		}
	}
	w.level("cores", 4, 0)
	w.level("cores-standardBSFamily", 2, 0)
	w.built(group(), network(), pip("p"))
	w.state(pipPath+"p", arm.Failed)
	w.must(w.send(subnet("a", "10.0.1.0/24")))
	w.must(w.send(network()))
	if a := admin("GET", "/admin/status", ""); a.body != `{"in_flight":1,"delayed":0}`+"\n" {
		t.Errorf("status %+v", a)
	}
	w.settle()
	if a := admin("POST", "/admin/throttle-next", `{"count":1}`); a.status != 204 {
		t.Errorf("got %d", a.status)
	}
	w.refused(429, arm.CodeTooManyRequests)(w.send(network()))
	events, err := activity.ReadLog(strings.NewReader(admin("GET", "/admin/log", "").body))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w.cloud.Events(), events); diff != "" {
		t.Error(diff)
	}
	log, err := activity.Pair(events)
	if err != nil || log.Operations[2].Duration() != 2*time.Second {
		t.Errorf("the new latency is not used: %+v, %v", log.Operations, err)
	}
	admin("POST", "/admin/reset", "")
	w.gone(groupPath)
}

func TestWithoutAdminTokenThereIsNoAdmin(t *testing.T) {
	t.Parallel()
	w := newWeb(t, simcloud.Config{})
	if a := w.do(t, "POST", "/admin/reset", "", "Authorization", "Bearer "); a.status != 404 {
		t.Errorf("got %d", a.status)
	}
	if a := w.do(t, "GET", "/healthz", ""); a.status != 204 {
		t.Errorf("got %d", a.status)
	}
}
