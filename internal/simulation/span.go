// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// span is a replace under way, from the acceptance of its delete on.
type span struct{ first *call }

// writes are the documents that a write of the thing changes, by the cloud's own
// table (package simcloud, holds.go): of two writes of one of them the cloud takes
// one at a time.
func (t *thing) writes() []string {
	list := []string{strings.ToLower(t.path())}
	parent, _ := t.id.Parent()
	switch t.typ {
	case "subnet", association, "network_security_rule", "function_permission":
		list = append(list, parent.Key())
	case "account_attachment":
		list = append(list, "attachments")
	}
	switch {
	case t.typ == association:
		list = append(list, t.nsg.id.Key())
	case t.disk != nil:
		list = append(list, t.disk.id.Key())
	}
	return list
}

// inside judges that no foreign write lands between the two halves of a replace
// (I21): on none of the documents that the replace itself writes.
func (j *judge) inside(k *call) {
	open := j.spans[:0:0]
	for _, s := range j.spans {
		if !j.intact(s) {
			continue
		}
		open = append(open, s)
		for _, document := range s.first.thing.writes() {
			if s.first.run != k.run && slices.Contains(k.thing.writes(), document) {
				j.w.fail("%s (%s) of %s writes %s inside the replace of %s by %s", k.tx, k.id, k.run.name, document, s.first.group, s.first.run.name)
			}
		}
	}
	j.spans = open
}

// intact says whether a replace that has begun may still end well: its session
// lives, and nothing that its create comes after has failed or is in doubt. If it
// may not, the coordinator lets go of it, and says so.
func (j *judge) intact(s *span) bool {
	x := s.first.run
	session, ok := j.w.ledger.state.Session(x.session)
	if !ok || session.EndedAt != 0 || !x.alive || x.closing {
		return false
	}
	state := map[string]admission.Status{}
	for _, tx := range j.w.ledger.state.Transactions() {
		if tx.Session == x.session && tx.Action != admission.Reserve {
			state[tx.Address+"/"+string(tx.Action)] = tx.Status
		}
	}
	second := s.first.sibling()
	if second == nil || state[string(second.id)].Final() {
		return false
	}
	return well(second, state, map[*planned]bool{})
}

// well says whether a call and all that it comes after can still succeed.
func well(c *planned, state map[string]admission.Status, seen map[*planned]bool) bool {
	if seen[c] {
		return true
	}
	seen[c] = true
	switch status := state[string(c.id)]; {
	case c.ended && !c.succeeded, status == admission.Uncertain:
		return false
	case status.Final() && status != admission.Operational && status != admission.Stale:
		return false
	}
	for _, a := range c.after {
		if !well(a, state, seen) {
			return false
		}
	}
	return true
}

// sibling is the create of a replace of which k is the delete.
func (k *call) sibling() *planned {
	for _, c := range k.run.calls {
		if c.group == k.group && c.action == admission.Create {
			return c
		}
	}
	return nil
}
