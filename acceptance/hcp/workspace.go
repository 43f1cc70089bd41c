// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package hcp

import (
	"net/http"
	"slices"
	"strings"
)

func (s *Server) account(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, resource{ID: "user-1", Type: "users", Attributes: map[string]any{"username": "tester"}})
}

func (s *Server) organization(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("org") != s.Organization {
		refuse(w, http.StatusNotFound, "not found")
		return
	}
	answer(w, http.StatusOK, resource{ID: s.Organization, Type: "organizations", Attributes: map[string]any{
		"name": s.Organization, "permissions": map[string]bool{"can-create-workspace": true},
	}})
}

// entitlements are what the organization has paid for.
func (s *Server) entitlements(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("org") != s.Organization {
		refuse(w, http.StatusNotFound, "not found")
		return
	}
	answer(w, http.StatusOK, resource{ID: s.Organization, Type: "entitlement-sets", Attributes: map[string]any{
		"operations": true, "state-storage": true, "run-tasks": true,
	}})
}

func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []resource{}
	for _, x := range s.workspaces {
		list = append(list, s.resource(x))
	}
	slices.SortFunc(list, func(a, b resource) int { return strings.Compare(a.ID, b.ID) })
	answer(w, http.StatusOK, list)
}

// create makes the workspace that a CLI asks for which finds none.
func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Name string `json:"name"`
	}
	if err := attributes(r, &asked); err != nil || asked.Name == "" {
		refuse(w, http.StatusUnprocessableEntity, "name is missing")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named(asked.Name) != nil {
		refuse(w, http.StatusUnprocessableEntity, "name has already been taken")
		return
	}
	answer(w, http.StatusCreated, s.resource(s.add(asked.Name, "remote")))
}

// read finds a workspace by its id or its name.
func (s *Server) read(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.workspaces[r.PathValue("id")]; x != nil {
		answer(w, http.StatusOK, s.resource(x))
		return
	}
	if x := s.named(r.PathValue("name")); x != nil && r.PathValue("org") == s.Organization {
		answer(w, http.StatusOK, s.resource(x))
		return
	}
	refuse(w, http.StatusNotFound, "not found")
}

func (s *Server) resource(x *workspace) resource {
	out := resource{
		ID: x.id, Type: "workspaces",
		Attributes: map[string]any{
			"name": x.name, "execution-mode": x.mode, "operations": x.mode != "local", "locked": x.locked,
			"terraform-version": s.Version, "auto-apply": false, "working-directory": "",
			"permissions": map[string]bool{
				"can-lock": true, "can-unlock": true, "can-force-unlock": true, "can-read-settings": true, "can-update": true,
				"can-queue-run": true, "can-queue-apply": true, "can-queue-destroy": true, "can-read-state-versions": true, "can-create-state-versions": true,
			},
		},
		Relationships: map[string]any{"organization": to("organizations", s.Organization)},
	}
	if x.current != "" {
		out.Relationships["current-state-version"] = to("state-versions", x.current)
	}
	return out
}

// act locks and unlocks.
func (s *Server) act(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.workspaces[r.PathValue("id")]
	action := r.PathValue("action")
	switch {
	case x == nil:
		refuse(w, http.StatusNotFound, "not found")
	case action == "lock" && x.locked:
		refuse(w, http.StatusConflict, "workspace already locked")
	case action == "unlock" && !x.locked:
		refuse(w, http.StatusConflict, "workspace already unlocked")
	case action == "lock", action == "unlock", action == "force-unlock":
		x.locked = action == "lock"
		answer(w, http.StatusOK, s.resource(x))
	default:
		refuse(w, http.StatusNotFound, "not found")
	}
}
