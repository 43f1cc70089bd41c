// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package hcp

import (
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
)

// Server is one service with one organization. It is safe for concurrent use.
type Server struct {
	// Organization is the one there is.
	Organization string
	// Token opens the API.
	Token string
	// Version is the CLI version that workspaces are set to.
	Version string

	http *httptest.Server
	mu   sync.Mutex
	// workspaces and states are by their ids.
	workspaces map[string]*workspace
	states     map[string]*state
	requests   []string
	last       int
}

// workspace is what is known of one.
type workspace struct {
	id, name, mode string
	locked         bool
	// current is the id of the newest state; empty for none.
	current string
}

// state is one version of a workspace's state.
type state struct {
	id        string
	workspace string
	Serial    int64  `json:"serial"`
	Lineage   string `json:"lineage"`
	MD5       string `json:"md5"`
	content   []byte
}

// Start serves at a port of 127.0.0.1, under the name localhost. version is that of
// the CLI that will come. Close it.
func Start(version string) (*Server, error) {
	own, err := certificate()
	if err != nil {
		return nil, err
	}
	s := &Server{
		Organization: "acme", Token: "hcp-test-token", Version: version,
		workspaces: map[string]*workspace{}, states: map[string]*state{},
	}
	s.http = httptest.NewUnstartedServer(s.routes())
	s.http.Config.ErrorLog = log.New(os.Stderr, "hcp: ", 0)
	s.http.TLS = &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}
	s.http.StartTLS()
	return s, nil
}

// Close ends the service.
func (s *Server) Close() { s.http.Close() }

// Host is the name and the port of the service.
func (s *Server) Host() string {
	_, port, _ := strings.Cut(strings.TrimPrefix(s.http.URL, "https://"), ":")
	return "localhost:" + port
}

// WriteCA writes the certificate that vouches for the service to a file, for
// SSL_CERT_FILE.
func (s *Server) WriteCA(path string) error {
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.http.TLS.Certificates[0].Certificate[0]})
	if err := os.WriteFile(path, block, 0o600); err != nil {
		return fmt.Errorf("write the certificate authority: %w", err)
	}
	return nil
}

// Workspace makes a workspace with an execution mode: local, remote or agent.
func (s *Server) Workspace(name, mode string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(name, mode)
}

func (s *Server) add(name, mode string) *workspace {
	w := &workspace{id: s.id("ws"), name: name, mode: mode}
	s.workspaces[w.id] = w
	return w
}

func (s *Server) id(kind string) string {
	s.last++
	return fmt.Sprintf("%s-%016d", kind, s.last)
}

// Requests are the method and the path of everything that was asked so far.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.requests...)
}

// Locked says whether a workspace is locked.
func (s *Server) Locked(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.named(name)
	return w != nil && w.locked
}

// State is the newest state of a workspace; nil when there is none.
func (s *Server) State(name string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.named(name); w != nil && w.current != "" {
		return s.states[w.current].content
	}
	return nil
}

func (s *Server) named(name string) *workspace {
	for _, w := range s.workspaces {
		if w.name == name {
			return w
		}
	}
	return nil
}

// routes are all that is served. Everything under /api needs the token.
func (s *Server) routes() http.Handler {
	api := http.NewServeMux()
	api.HandleFunc("GET /api/v2/ping", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	api.HandleFunc("GET /api/v2/account/details", s.account)
	api.HandleFunc("GET /api/v2/organizations/{org}", s.organization)
	api.HandleFunc("GET /api/v2/organizations/{org}/entitlement-set", s.entitlements)
	api.HandleFunc("GET /api/v2/organizations/{org}/workspaces", s.list)
	api.HandleFunc("POST /api/v2/organizations/{org}/workspaces", s.create)
	api.HandleFunc("GET /api/v2/organizations/{org}/workspaces/{name}", s.read)
	api.HandleFunc("GET /api/v2/workspaces/{id}", s.read)
	api.HandleFunc("POST /api/v2/workspaces/{id}/actions/{action}", s.act)
	api.HandleFunc("GET /api/v2/workspaces/{id}/current-state-version", s.currentState)
	api.HandleFunc("POST /api/v2/workspaces/{id}/state-versions", s.createState)
	api.HandleFunc("GET /api/v2/state-versions/{id}", s.readState)
	all := http.NewServeMux()
	all.HandleFunc("GET /.well-known/terraform.json", discovery)
	all.Handle("/api/", s.guarded(api))
	all.HandleFunc("GET /archivist/{id}", s.download)
	all.HandleFunc("PUT /archivist/{id}", s.upload)
	all.HandleFunc("PUT /archivist/{id}/json", func(http.ResponseWriter, *http.Request) {})
	return s.recorded(all)
}

func discovery(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{
		"tfe.v2": "/api/v2/", "tfe.v2.1": "/api/v2/", "tfe.v2.2": "/api/v2/", "state.v2": "/api/v2/",
	})
}

// recorded remembers what is asked.
func (s *Server) recorded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// guarded lets in who has the token, and says of which version the API is.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("TFP-API-Version", "2.6")
		w.Header().Set("TFP-AppName", "HCP Terraform")
		w.Header().Set("Content-Type", mediaType)
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(token), []byte(s.Token)) != 1 && r.URL.Path != "/api/v2/ping" {
			refuse(w, http.StatusUnauthorized, "unauthorized")
			return
		}
		next.ServeHTTP(w, r)
	})
}
