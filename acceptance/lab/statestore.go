// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// StateStore is a server for Terraform's http backend, in this process. It keeps
// several states by their names, the lock of each, every version that was ever
// written, and what was asked. It is stricter than many: it takes a version from
// the holder of the lock alone while there is one, and ends a lock only for who
// names the holder's ID.
type StateStore struct {
	// URL is where the states lie: URL/NAME is one of them.
	URL    string
	server *http.Server
	// logins are the passwords by user; empty where anybody may come.
	logins map[string]string

	mu     sync.Mutex
	states map[string]*storedState
}

// storedState is one state.
type storedState struct {
	// holder is the lock info as its holder has sent it; nil while nobody does.
	holder   []byte
	versions []StateVersion
	asked    []StateRequest
}

// StateVersion is a state as it was written.
type StateVersion struct {
	At      time.Time
	Serial  uint64
	Lineage string
	// By is the user that wrote it, LockID the lock under which it did; empty if
	// there was none.
	By, LockID string
	Text       []byte
}

// StateRequest is what somebody asked of the store, and what it answered.
type StateRequest struct {
	// At is when the answer was decided on.
	At time.Time
	// Method is GET, POST, DELETE, LOCK or UNLOCK.
	Method string
	// By is the user of the request, empty if it named none.
	By string
	// ID is that of the lock which the request names.
	ID     string
	Status int
}

// maxStateBody bounds what is taken in one request, in bytes.
const maxStateBody = 64 << 20

// StartStateStore starts a store on the loopback network. logins are passwords by
// user; without any, everybody may come. Close it after the runs that use it.
func StartStateStore(logins map[string]string) (*StateStore, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the state store: %w", err)
	}
	s := &StateStore{URL: "http://" + listener.Addr().String(), logins: logins, states: make(map[string]*storedState)}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(listener) }() // it ends with Close
	return s, nil
}

// Close ends the store.
func (s *StateStore) Close() error {
	if err := s.server.Close(); err != nil {
		return fmt.Errorf("stop the state store: %w", err)
	}
	return nil
}

// ServeHTTP answers one request.
func (s *StateStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxStateBody))
	if err != nil {
		http.Error(w, "the request is too long or broke off", http.StatusBadRequest)
		return
	}
	user, password, _ := r.BasicAuth()
	s.mu.Lock()
	defer s.mu.Unlock()
	status, text := http.StatusUnauthorized, []byte(nil)
	state := s.state(r.URL.Path)
	if s.admits(user, password) {
		status, text = state.answer(r, user, body)
	}
	state.asked = append(state.asked, StateRequest{At: time.Now(), Method: r.Method, By: user, ID: lockID(r, body), Status: status})
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func (s *StateStore) admits(user, password string) bool {
	want, known := s.logins[user]
	right := subtle.ConstantTimeCompare([]byte(want), []byte(password)) == 1
	return len(s.logins) == 0 || known && right
}

// state is the state of a path, made if it is new. The caller has the mutex.
func (s *StateStore) state(path string) *storedState {
	name := "/" + strings.Trim(path, "/")
	if s.states[name] == nil {
		s.states[name] = &storedState{}
	}
	return s.states[name]
}

// lockID is the lock that a request names: a write in its query, the others in
// their body.
func lockID(r *http.Request, body []byte) string {
	if r.Method == http.MethodPost {
		return r.URL.Query().Get("ID")
	}
	return idOf(body)
}

// idOf is the ID in a lock info; empty if there is none.
func idOf(info []byte) string {
	var lock struct{ ID string }
	_ = json.Unmarshal(info, &lock)
	return lock.ID
}

// answer carries a request out.
func (s *storedState) answer(r *http.Request, user string, body []byte) (status int, text []byte) {
	switch r.Method {
	case http.MethodGet:
		return s.read()
	case http.MethodPost:
		return s.write(user, lockID(r, body), body)
	case http.MethodDelete:
		return s.write(user, r.URL.Query().Get("ID"), nil)
	case "LOCK":
		return s.lock(body)
	case "UNLOCK":
		return s.unlock(idOf(body))
	default:
		return http.StatusMethodNotAllowed, nil
	}
}

func (s *storedState) read() (status int, text []byte) {
	if len(s.versions) == 0 || s.versions[len(s.versions)-1].Text == nil {
		return http.StatusNotFound, nil
	}
	return http.StatusOK, s.versions[len(s.versions)-1].Text
}

// write keeps a version; none at all is that of a state that was deleted.
func (s *storedState) write(user, id string, text []byte) (status int, answer []byte) {
	if s.holder != nil && idOf(s.holder) != id {
		return http.StatusConflict, s.holder
	}
	v := StateVersion{At: time.Now(), By: user, LockID: id, Text: text}
	var head struct {
		Serial  uint64 `json:"serial"`
		Lineage string `json:"lineage"`
	}
	if err := json.Unmarshal(text, &head); err != nil && text != nil {
		return http.StatusBadRequest, []byte("that is no state")
	}
	v.Serial, v.Lineage = head.Serial, head.Lineage
	s.versions = append(s.versions, v)
	return http.StatusOK, nil
}

func (s *storedState) lock(info []byte) (status int, text []byte) {
	switch {
	case idOf(info) == "":
		return http.StatusBadRequest, []byte("a lock needs an ID")
	case s.holder != nil:
		return http.StatusLocked, s.holder
	}
	s.holder = info
	return http.StatusOK, nil
}

// unlock ends the lock for who knows its ID. Terraform 1.11.4 sends no ID with
// "force-unlock", which would end anybody's lock.
func (s *storedState) unlock(id string) (status int, text []byte) {
	if s.holder == nil || id == "" || id != idOf(s.holder) {
		return http.StatusConflict, s.holder
	}
	s.holder = nil
	return http.StatusOK, nil
}

// Plant makes somebody hold the lock of a state. info is the JSON of a lock info.
func (s *StateStore) Plant(name, info string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status, _ := s.state(name).lock([]byte(info)); status != http.StatusOK {
		return fmt.Errorf("plant a holder: status %d", status)
	}
	return nil
}

// Release ends the lock of a state, whoever holds it.
func (s *StateStore) Release(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state(name).holder = nil
}

// Holder is the lock info of who holds the lock of a state; empty if nobody does.
func (s *StateStore) Holder(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.state(name).holder)
}

// Versions are all versions of a state, oldest first. One without a text is that
// of a state that was deleted.
func (s *StateStore) Versions(name string) []StateVersion {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state(name).versions)
}

// Requests is all that was asked of a state, in order.
func (s *StateStore) Requests(name string) []StateRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state(name).asked)
}

// Chain is an error unless the versions of a state follow one another: one
// lineage, each serial above the last one, and each written under a lock.
func (s *StateStore) Chain(name string) error {
	var errs []error
	versions := s.Versions(name)
	for n, v := range versions {
		if v.LockID == "" {
			errs = append(errs, fmt.Errorf("version %d (serial %d of %s) was written without a lock", n, v.Serial, v.By))
		}
		if n == 0 {
			continue
		}
		if last := versions[n-1]; v.Lineage != last.Lineage || v.Serial <= last.Serial {
			errs = append(errs, fmt.Errorf("version %d: serial %d of %s follows serial %d of %s", n, v.Serial, v.By, last.Serial, last.By))
		}
	}
	return errors.Join(errs...)
}
