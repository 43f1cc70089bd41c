// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package hcp

import (
	"crypto/md5" //nolint:gosec // the API's checksum of a state
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
)

// currentState is the newest state of a workspace.
func (s *Server) currentState(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.workspaces[r.PathValue("id")]
	if x == nil || x.current == "" {
		refuse(w, http.StatusNotFound, "not found")
		return
	}
	answer(w, http.StatusOK, s.version(s.states[x.current]))
}

func (s *Server) readState(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.states[r.PathValue("id")]
	if x == nil {
		refuse(w, http.StatusNotFound, "not found")
		return
	}
	answer(w, http.StatusOK, s.version(x))
}

// version is a state as the API shows it; its content is elsewhere.
func (s *Server) version(x *state) resource {
	at := "https://" + s.Host() + "/archivist/" + x.id
	return resource{
		ID: x.id, Type: "state-versions",
		Attributes: map[string]any{
			"serial": x.Serial, "status": "finalized", "resources-processed": true,
			"hosted-state-download-url": at, "hosted-state-upload-url": at, "hosted-json-state-upload-url": at + "/json",
		},
		Relationships: map[string]any{"workspace": to("workspaces", x.workspace)},
	}
}

// createState takes a new version, with its content or to be given it. As the
// service does it takes one only while the workspace is locked, and none that is no
// successor.
func (s *Server) createState(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		state

		State string `json:"state"`
	}
	if err := attributes(r, &asked); err != nil {
		refuse(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.workspaces[r.PathValue("id")]
	switch {
	case x == nil:
		refuse(w, http.StatusNotFound, "not found")
		return
	case !x.locked:
		refuse(w, http.StatusConflict, "workspace must be locked to upload state")
		return
	case x.current != "" && s.states[x.current].Serial >= asked.Serial:
		refuse(w, http.StatusConflict, "serial is not newer")
		return
	}
	made := asked.state
	made.id, made.workspace = s.id("sv"), x.id
	s.states[made.id] = &made
	if asked.State != "" {
		content, err := base64.StdEncoding.DecodeString(asked.State)
		if err != nil || !s.fill(&made, content) {
			refuse(w, http.StatusUnprocessableEntity, "state does not match its checksum")
			return
		}
		s.states[made.id] = &made
	}
	answer(w, http.StatusCreated, s.version(&made))
}

// fill gives a version its content, and makes it the newest.
func (s *Server) fill(x *state, content []byte) bool {
	sum := md5.Sum(content) //nolint:gosec // the API's checksum of a state
	if hex.EncodeToString(sum[:]) != x.MD5 {
		return false
	}
	x.content = content
	s.workspaces[x.workspace].current = x.id
	return true
}

func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.states[r.PathValue("id")]
	if err != nil || x == nil || !s.fill(x, content) {
		refuse(w, http.StatusUnprocessableEntity, "state does not match its checksum")
	}
}

// download gives the content of a version. The address is the secret.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.states[r.PathValue("id")]
	if x == nil || x.content == nil {
		refuse(w, http.StatusNotFound, "not found")
		return
	}
	_, _ = w.Write(x.content)
}
