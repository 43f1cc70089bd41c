// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import "github.com/tfweaver/tfweaver/wrapper/settings"

// Adopt takes from a repository's settings what neither the command line nor the
// environment says. Off is set where the settings coordinate no realm.
func (w *Weaver) Adopt(s settings.Settings) {
	if s.Coordinator != nil {
		w.adoptCoordinator(*s.Coordinator, s.Path)
	}
	if s.Wait != nil && !w.Given("wait") {
		w.Wait = *s.Wait
		w.Note("wait", s.Path)
	}
	if s.Policy != "" && !w.Given("policy") {
		w.Policy = s.Policy
		w.Note("policy", s.Path)
	}
	if s.Mode == ModeOff && w.Mode == "" {
		w.Off = w.Off || !anyOn(s.Realms)
	}
	w.settle()
}

func anyOn(realms []settings.Realm) bool {
	for _, r := range realms {
		if r.Mode != ModeOff {
			return true
		}
	}
	return false
}

// adoptCoordinator also takes how to get in. The settings' token is for the
// settings' coordinator: it is not shown to another one that was named instead.
func (w *Weaver) adoptCoordinator(c settings.Coordinator, path string) {
	switch {
	case w.Coordinator == "" && w.Local:
		return
	case w.Coordinator == "":
		w.Coordinator = c.Address
		w.Note("coordinator", path)
	case w.Coordinator != c.Address:
		return
	}
	if w.CAFile == "" && c.CAFile != "" {
		w.CAFile = c.CAFile
		w.Note("ca-file", path)
	}
	if w.TokenFile == "" && c.TokenFile != "" {
		w.TokenFile = c.TokenFile
		w.Note("token-file", path)
	}
	if c.TokenEnv != "" {
		w.TokenEnv = c.TokenEnv
		w.Note("token-env", path)
	}
}
