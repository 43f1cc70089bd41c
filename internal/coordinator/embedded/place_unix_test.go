// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package embedded

import (
	"os/user"
	"path/filepath"
	"testing"
)

// TestHome: two jobs of one user with homes of their own share a coordinator.
func TestHome(t *testing.T) {
	registered, job := t.TempDir(), t.TempDir()
	t.Setenv("HOME", job)
	cases := map[string]struct {
		home string
		err  error
		want string
	}{
		"registered": {home: registered, want: registered},
		"missing":    {home: filepath.Join(registered, "nonexistent"), want: job},
		"none":       {home: "", want: job},
		"relative":   {home: ".", want: job},
		"unknown":    {err: user.UnknownUserIdError(7), want: job},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := home("7", func(id string) (*user.User, error) {
				if id != "7" {
					t.Errorf("user %s is looked up", id)
				}
				return &user.User{HomeDir: c.home}, c.err
			})
			if err != nil || got != c.want {
				t.Errorf("home = %s, %v; want %s", got, err, c.want)
			}
		})
	}
}
