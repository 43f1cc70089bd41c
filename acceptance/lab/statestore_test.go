// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asked sends one request to a store.
func asked(t *testing.T, store *StateStore, login, method, path, body string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, store.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if user, password, ok := strings.Cut(login, ":"); ok {
		req.SetBasicAuth(user, password)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(said)
}

func openStore(t *testing.T, logins map[string]string) *StateStore {
	t.Helper()
	store, err := StartStateStore(logins)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func TestStateStore(t *testing.T) {
	t.Parallel()
	store := openStore(t, nil)
	const first, second = `{"serial":1,"lineage":"l"}`, `{"serial":2,"lineage":"l"}`
	for n, step := range []struct {
		method, path, body string
		status             int
		text               string
	}{
		{"GET", "/net", "", 404, ""},
		{"LOCK", "/net", `{}`, 400, "a lock needs an ID"},
		{"LOCK", "/net", `{"ID":"a","Who":"alice"}`, 200, ""},
		{"LOCK", "/net", `{"ID":"b"}`, 423, `{"ID":"a","Who":"alice"}`},
		{"LOCK", "/other", `{"ID":"b"}`, 200, ""},
		{"POST", "/net", first, 409, `{"ID":"a","Who":"alice"}`},
		{"POST", "/net?ID=b", first, 409, `{"ID":"a","Who":"alice"}`},
		{"POST", "/net?ID=a", "no state", 400, "that is no state"},
		{"POST", "/net?ID=a", first, 200, ""},
		{"POST", "/net?ID=a", second, 200, ""},
		{"GET", "/net", "", 200, second},
		{"UNLOCK", "/net", "", 409, `{"ID":"a","Who":"alice"}`},
		{"UNLOCK", "/net", `{"ID":"b"}`, 409, `{"ID":"a","Who":"alice"}`},
		{"UNLOCK", "/net", `{"ID":"a"}`, 200, ""},
		{"UNLOCK", "/net", `{"ID":"a"}`, 409, ""},
		{"PATCH", "/net", "", 405, ""},
		{"DELETE", "/net", "", 200, ""},
		{"GET", "/net", "", 404, ""},
	} {
		if status, text := asked(t, store, "", step.method, step.path, step.body); status != step.status || text != step.text {
			t.Errorf("step %d: %s %s %s: %d %q, want %d %q", n, step.method, step.path, step.body, status, text, step.status, step.text)
		}
	}
	var serials []uint64
	for _, v := range store.Versions("net") {
		serials = append(serials, v.Serial)
	}
	if diff := cmp.Diff([]uint64{1, 2, 0}, serials); diff != "" || len(store.Versions("other")) != 0 || len(store.Requests("other")) != 1 {
		t.Errorf("-want +got\n%s", diff)
	}
	if err := store.Plant("other", `{"ID":"c"}`); err == nil || !strings.Contains(store.Holder("other"), `"b"`) {
		t.Errorf("planted beside somebody else: %v, %s", err, store.Holder("other"))
	}
}

func TestStateStoreWantsItsLogins(t *testing.T) {
	t.Parallel()
	store := openStore(t, map[string]string{"alice": "pass"})
	for login, want := range map[string]int{"": 401, "alice:": 401, "alice:pas": 401, "bob:pass": 401, "bob:": 401, "alice:pass": 404} {
		if status, _ := asked(t, store, login, "GET", "/net", ""); status != want {
			t.Errorf("%q: %d, want %d", login, status, want)
		}
	}
}

func TestChain(t *testing.T) {
	t.Parallel()
	for want, versions := range map[string][]StateVersion{
		"":               {{Serial: 1, Lineage: "l", LockID: "a"}, {Serial: 3, Lineage: "l", LockID: "b"}},
		"without a lock": {{Serial: 1, Lineage: "l"}},
		"follows serial": {{Serial: 2, Lineage: "l", LockID: "a"}, {Serial: 2, Lineage: "l", LockID: "b"}},
		"serial 9 of":    {{Serial: 2, Lineage: "l", LockID: "a"}, {Serial: 9, Lineage: "m", LockID: "b"}},
	} {
		store := &StateStore{states: map[string]*storedState{"/net": {versions: versions}}}
		err := store.Chain("net")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestStateIDs(t *testing.T) {
	t.Parallel()
	state := `{"resources":[{"mode":"managed","instances":[{"attributes":{"id":"/N/a"}},{"attributes":{"id":"b"}}]},
		{"mode":"data","instances":[{"attributes":{"id":"c"}}]}]}`
	for text, want := range map[string][]string{"": nil, "{}": nil, state: {"/n/a", "b"}} {
		if got, err := StateIDs([]byte(text)); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := StateIDs([]byte("no state")); err == nil {
		t.Error("what is no state has ids")
	}
}
