// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import (
	"fmt"
	"strings"
)

// wellFormed checks what a declaration says about itself: roots are realms and
// nothing else is, derived nodes stand under what their ids are derived from.
func wellFormed(d Decl) error {
	bad := func(why string) error { return fmt.Errorf("%q: %s: %w", d.ID, why, ErrShape) }
	if d.ID == "" {
		return bad("no id")
	}
	if (d.Kind == Realm) != (d.Parent == "") {
		return bad("realms have no parent, everything else has one")
	}
	if d.ID == d.Parent {
		return bad("is its own parent")
	}
	switch d.Kind {
	case Realm, Resource, Pending:
		return nil
	case Facet:
		if owner, _, ok := OwnerOfFacet(d.ID); !ok || owner != d.Parent {
			return bad("a facet stands under the node it belongs to")
		}
		return nil
	case Name:
		if !strings.HasPrefix(string(d.ID), string(d.Parent)+"/~name/") {
			return bad("a name stands under the node it is unique in")
		}
		return nil
	default:
		return bad(fmt.Sprintf("unknown kind %q", d.Kind))
	}
}
