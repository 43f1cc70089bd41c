// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package statelock

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// alice is a holder, as a coordinating state server describes it.
const alice = `{"ID":"alice-net7-1","Operation":"OperationTypeApply","Info":"move the database, https://ci.example/42",
	"Who":"alice@ticket-42","Version":"1.11.4","Created":"2026-11-30T20:00:00Z","Path":""}`

// store is a state server that knows locks alone.
type store struct {
	mu     sync.Mutex
	holder []byte
	// asked are the methods that came, in order.
	asked []string
	// before may answer instead; it is called with the number of the request,
	// from 1, and what it asks for.
	before func(n int, w http.ResponseWriter, r *http.Request) bool
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method)
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if s.before != nil && s.before(len(s.asked), w, r) {
		return
	}
	switch r.Method {
	case "LOCK":
		if s.holder != nil {
			w.WriteHeader(http.StatusLocked)
			_, _ = w.Write(s.holder)
			return
		}
		s.holder = body
	case "UNLOCK":
		if idOf(body) != idOf(s.holder) {
			w.WriteHeader(http.StatusConflict)
			return
		}
		s.holder = nil
	}
}

func idOf(text []byte) string {
	var l Lock
	_ = json.Unmarshal(text, &l)
	return l.ID
}

// state is who holds the lock in the end, and what was asked.
func (s *store) state() (holder string, asked []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return idOf(s.holder), s.asked
}

func (s *store) serve(t *testing.T) map[string]any {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return map[string]any{"address": server.URL + "/net", "lock_address": server.URL + "/net", "unlock_address": server.URL + "/net"}
}

func TestTheHolderIsInTheRefusal(t *testing.T) {
	t.Parallel()
	s := &store{holder: []byte(alice)}
	lock, err := findHTTP(t.Context(), s.serve(t), arguments.Environment{})
	if err != nil || lock.Who != "alice@ticket-42" || lock.ID != "alice-net7-1" || !strings.Contains(lock.Info, "https://ci.example/42") || lock.Created.IsZero() {
		t.Errorf("found %+v, %v", lock, err)
	}
	holder, asked := s.state()
	if diff := cmp.Diff([]string{"LOCK"}, asked); holder != "alice-net7-1" || diff != "" {
		t.Errorf("the holder is %q; -want +asked\n%s", holder, diff)
	}
}

func TestAFreeLockIsGivenBack(t *testing.T) {
	t.Parallel()
	var question Lock
	s := &store{before: func(n int, _ http.ResponseWriter, r *http.Request) bool {
		if n == 1 {
			_ = json.NewDecoder(r.Body).Decode(&question)
		}
		return false
	}}
	_, err := findHTTP(t.Context(), s.serve(t), arguments.Environment{})
	holder, asked := s.state()
	if !errors.Is(err, ErrFree) || holder != "" || len(asked) != 2 {
		t.Errorf("%v; holder %q after %v", err, holder, asked)
	}
	if !strings.Contains(question.Info, "asks") || !strings.HasPrefix(question.ID, "tfweaver-asks-") {
		t.Errorf("the question does not say that it is one: %+v", question)
	}
}

// hangUp breaks the connection off.
func hangUp(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// TestALostAnswerLeavesNoLock: the server carries the request out, and the answer
// does not arrive.
func TestALostAnswerLeavesNoLock(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]byte{"it was free": nil, "somebody held it": []byte(alice)} {
		s := &store{holder: before}
		s.before = func(n int, w http.ResponseWriter, r *http.Request) bool {
			if n == 1 {
				if s.holder == nil {
					s.holder, _ = io.ReadAll(r.Body)
				}
				hangUp(w)
			}
			return false
		}
		lock, err := findHTTP(t.Context(), s.serve(t), arguments.Environment{})
		holder, asked := s.state()
		switch {
		case before == nil && (!errors.Is(err, ErrFree) || holder != "" || len(asked) != 3):
			t.Errorf("%s: %v; the holder is %q after %v", name, err, holder, asked)
		case before != nil && (err != nil || lock.ID != "alice-net7-1" || holder != lock.ID || len(asked) != 2):
			t.Errorf("%s: %+v, %v; the holder is %q after %v", name, lock, err, holder, asked)
		}
	}
}

// TestNobodyElsesLockIsEnded: a server that takes any UNLOCK must not get one
// while it is not known whose the lock is.
func TestNobodyElsesLockIsEnded(t *testing.T) {
	t.Parallel()
	s := &store{before: func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Method == "LOCK" {
			hangUp(w)
		}
		return true
	}}
	_, err := findHTTP(t.Context(), s.serve(t), arguments.Environment{})
	_, asked := s.state()
	if diff := cmp.Diff([]string{"LOCK", "LOCK"}, asked); !errors.Is(err, ErrUnknown) || diff != "" || !strings.Contains(err.Error(), "tfweaver-asks-") {
		t.Errorf("%v; -want +asked\n%s", err, diff)
	}
}

func TestGivingBackIsTriedAgainAndToldOf(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]error{2: ErrFree, 9: ErrUnknown} {
		s := &store{before: func(n int, w http.ResponseWriter, r *http.Request) bool {
			if failing := r.Method == "UNLOCK" && n <= failures+1; failing {
				w.WriteHeader(http.StatusInternalServerError)
				return true
			}
			return false
		}}
		_, err := findHTTP(t.Context(), s.serve(t), arguments.Environment{})
		if !errors.Is(err, want) || want == ErrUnknown && !strings.Contains(err.Error(), `force-unlock tfweaver-asks-`) {
			t.Errorf("after %d failures: %v", failures, err)
		}
	}
}

func TestUnclearAnswers(t *testing.T) {
	t.Parallel()
	for want, before := range map[string]func(http.ResponseWriter){
		"401 Unauthorized": func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) },
		"307 Temporary Redi": func(w http.ResponseWriter) {
			w.Header().Set("Location", "/x")
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"and not by whom": func(w http.ResponseWriter) { w.WriteHeader(http.StatusConflict) },
		"409 Conflict), and ": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"Created":"2026-11-30T20:00:00Z"}`)
		},
	} {
		s := &store{before: func(_ int, w http.ResponseWriter, _ *http.Request) bool { before(w); return true }}
		_, err := findHTTP(t.Context(), s.serve(t), arguments.Environment{})
		if _, asked := s.state(); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), want) || len(asked) != 1 {
			t.Errorf("want %q, got %v after %v", want, err, asked)
		}
	}
}

func TestAnAnswerIsBounded(t *testing.T) {
	t.Parallel()
	s := &store{holder: []byte(`{"ID":"x","Info":"` + strings.Repeat("a", 2*maxLock) + `"}`)}
	if _, err := findHTTP(t.Context(), s.serve(t), arguments.Environment{}); !errors.Is(err, ErrUnknown) {
		t.Errorf("two and more times the bound: %v", err)
	}
}

// secret stands for everything that must not be told.
const secret = "s3cr3t-and-more"

// TestNoSecretIsTold lets everything fail with secrets everywhere.
func TestNoSecretIsTold(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	refusing := (&store{before: func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, secret)
		return true
	}}).serve(t)["address"].(string)
	for name, address := range map[string]string{
		"nobody there": gone.URL, "refused": refusing, "no address": "http://user:" + secret + "@host:port/", "no scheme": "x:" + secret,
	} {
		address = strings.Replace(address, "http://127", "http://user:"+secret+"@127", 1) + "?token=" + secret
		settings := map[string]any{
			"lock_address": address, "unlock_address": address, "password": secret, "username": secret,
			"headers": map[string]any{"X-Token": secret},
		}
		_, err := findHTTP(t.Context(), settings, arguments.Environment{})
		if !errors.Is(err, ErrUnknown) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReasonsHoldNoAddress(t *testing.T) {
	t.Parallel()
	for _, err := range []error{io.EOF, errors.New("of the proxy: " + secret), &net.DNSError{Err: "no such host", Name: secret}} {
		if said := reason(&url.Error{Op: "Lock", URL: "http://host/?token=" + secret, Err: err}); strings.Contains(said, secret) || said == "" {
			t.Errorf("%v: %s", err, said)
		}
	}
}

func TestCredentialsAreSent(t *testing.T) {
	t.Parallel()
	var user, password, header string
	s := &store{holder: []byte(alice), before: func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		user, password, _ = r.BasicAuth()
		header = r.Header.Get("X-Team")
		return false
	}}
	settings := s.serve(t)
	settings["username"], settings["headers"] = "carol", map[string]any{"X-Team": "net"}
	if _, err := findHTTP(t.Context(), settings, arguments.Environment{"TF_HTTP_PASSWORD=pass"}); err != nil || user != "carol" || password != "pass" || header != "net" {
		t.Errorf("%v; sent %q %q %q", err, user, password, header)
	}
}

func TestEnvironmentAndMethods(t *testing.T) {
	t.Parallel()
	s := &store{holder: []byte(alice), before: func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Method == "PUT" && r.URL.Path == "/net" {
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, alice)
		}
		return true
	}}
	address := s.serve(t)["address"].(string)
	env := arguments.Environment{"TF_HTTP_LOCK_ADDRESS=" + address, "TF_HTTP_UNLOCK_ADDRESS=" + address, "TF_HTTP_LOCK_METHOD=POST"}
	lock, err := findHTTP(t.Context(), map[string]any{"lock_method": "PUT", "lock_address": nil}, env)
	if err != nil || lock.Who != "alice@ticket-42" {
		t.Errorf("%+v, %v", lock, err)
	}
}

func TestWithoutAddressesNothingIsAsked(t *testing.T) {
	t.Parallel()
	for missing := range map[string]bool{"lock_address": true, "unlock_address": true} {
		s := &store{}
		settings := s.serve(t)
		delete(settings, missing)
		_, err := findHTTP(t.Context(), settings, arguments.Environment{})
		if _, asked := s.state(); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), missing) || len(asked) != 0 {
			t.Errorf("without %s: %v after %v", missing, err, asked)
		}
	}
}

// TestCertificates: the authority of the configuration counts, in both
// directions, and so does the option to take any certificate.
func TestCertificates(t *testing.T) {
	t.Parallel()
	s := &store{holder: []byte(alice)}
	server := httptest.NewUnstartedServer(s)
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	for name, c := range map[string]struct {
		more map[string]any
		want error
	}{
		"nothing":        {nil, ErrUnknown},
		"the authority":  {map[string]any{"client_ca_certificate_pem": authority}, nil},
		"any":            {map[string]any{"skip_cert_verification": true}, nil},
		"no certificate": {map[string]any{"client_ca_certificate_pem": secret}, ErrUnknown},
		"no pair":        {map[string]any{"skip_cert_verification": true, "client_private_key_pem": secret}, ErrUnknown},
	} {
		settings := map[string]any{"lock_address": server.URL, "unlock_address": server.URL}
		for key, value := range c.more {
			settings[key] = value
		}
		_, err := findHTTP(t.Context(), settings, arguments.Environment{})
		if !errors.Is(err, c.want) || err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
