// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"fmt"
	"strings"
)

// HTTPBackend is the configuration of a state in the store.
func (s *StateStore) HTTPBackend(name string) string {
	return fmt.Sprintf(`terraform {
  backend "http" {
    address        = %[1]q
    lock_address   = %[1]q
    unlock_address = %[1]q
  }
}
`, s.URL+"/"+strings.Trim(name, "/"))
}

// Login is the environment with which runs are known to the store as a user.
func Login(user, password string) []string {
	return []string{"TF_HTTP_USERNAME=" + user, "TF_HTTP_PASSWORD=" + password}
}

// WorkspaceOn makes a workspace whose state lies in a store, so that several can
// share one, and initialises it. Its runs are known to the store by the actor's
// name and the password that the store wants of it.
func (e *Experiment) WorkspaceOn(ctx context.Context, store *StateStore, name, actor, hcl string) (*Workspace, error) {
	w, err := e.Workspace(ctx, actor, hcl)
	if err != nil {
		return nil, err
	}
	w.Env = append(w.Env, Login(actor, store.logins[actor])...)
	if err := w.Write("backend.tf", store.HTTPBackend(name)); err != nil {
		return nil, err
	}
	return w, w.Init(ctx)
}
