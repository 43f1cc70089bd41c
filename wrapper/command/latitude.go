// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/wrapper/gatekeeper"
	"github.com/tfweaver/tfweaver/wrapper/settings"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// mode is how far coordination goes in a realm: as the run was told, else as the
// repository's settings say of the realm.
func (r *run) mode(realm graph.NodeID) gatekeeper.Mode {
	if m := r.inv.Weaver.Mode; m != "" {
		return gatekeeper.Mode(m)
	}
	if r.realms != nil {
		r.realms.note(string(realm))
	}
	if m := r.shared.ModeOf(string(realm)); m != "" {
		return gatekeeper.Mode(m)
	}
	return gatekeeper.Enforce
}

// override is the person's word that one decision is passed.
func (r *run) override() gatekeeper.Override {
	w := r.inv.Weaver
	if w.Override == "" {
		return gatekeeper.Override{}
	}
	return gatekeeper.Override{ID: admission.TxID(w.Override), By: r.who.Actor, Reason: w.Reason}
}

// realms are those that a run works in, in order.
type realms struct {
	mu   sync.Mutex
	list []string
}

// note adds a realm; what only the cloud will name is none yet.
func (r *realms) note(realm string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if realm != "" && !strings.HasPrefix(realm, "~") && !slices.Contains(r.list, realm) {
		r.list = append(r.list, realm)
	}
}

func (r *realms) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// misfit is a warning where none of the settings' exceptions fits a realm of this
// run, and one of them would have changed something: the pattern may be
// misspelt, and what it was meant for weaker than it looks.
func misfit(s settings.Settings, worked []string) (views.Problem, bool) {
	if len(s.Realms) == 0 || len(worked) == 0 {
		return views.Problem{}, false
	}
	mode := orElse(s.Mode, string(gatekeeper.Enforce))
	var patterns []string
	differs := false
	for _, x := range s.Realms {
		if slices.ContainsFunc(worked, x.Fits) {
			return views.Problem{}, false
		}
		patterns = append(patterns, strconv.Quote(x.Pattern))
		differs = differs || x.Mode != mode
	}
	return views.Problem{
		Warning: true, Summary: "No realm of the settings fits",
		Detail: fmt.Sprintf("%s has a mode of its own for %s, which fits none of the realms of this run: %s. The mode %q was used.",
			s.Path, strings.Join(patterns, ", "), strings.Join(worked, ", "), mode),
	}, differs
}
