// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"bytes"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/view"
)

// lenses are what the sessions of a configuration may see: all of them are
// confined to what is their own, and one network is shared with the second.
func lenses(c *Config) []*view.Lens {
	if !c.Views {
		return nil
	}
	shared := c.Objects[min(1, len(c.Objects)-1)]
	p := view.Policy{Default: view.Confined, Shares: []view.Share{{
		Node: shared, With: []view.Subject{view.StateSubject(state(sessionIDs[1]))}, Mode: view.Use, Parents: view.NoParents,
	}}}
	var list []*view.Lens
	for s := range c.Sessions {
		list = append(list, view.NewLens(p, admission.Session{ID: sessionIDs[s], Origin: state(sessionIDs[s])}))
	}
	return list
}

// checkViews: a decision that is none of a session's business, because it is
// about what the session may not see and not about its own transactions, leaves
// all that it sees as it was, to the byte.
func checkViews(list []*view.Lens, before, after *admission.State, events []admission.Event) *Violation {
	for s, l := range list {
		if l.Touched(before, after, events) {
			continue
		}
		if a, b := l.AppendTo(nil, before), l.AppendTo(nil, after); !bytes.Equal(a, b) {
			return broken("I16 ViewConfinement", "s%d sees what it may not: %q became %q", s, a, b)
		}
	}
	return nil
}
