// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/wrapper/gatekeeper"
)

// mode is how far coordination goes in a realm: as the run was told, else as the
// repository's settings say of the realm.
func (r *run) mode(realm graph.NodeID) gatekeeper.Mode {
	if m := r.inv.Weaver.Mode; m != "" {
		return gatekeeper.Mode(m)
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
