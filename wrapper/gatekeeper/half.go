// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// halfDone are the replaces of the plan that have begun and will not end, since
// the run is over: the coordinator lets go of them.
func (g *Gatekeeper) halfDone() []views.HalfDone {
	changes := g.planned()
	if changes == nil {
		return nil
	}
	groups := map[string]*views.HalfDone{}
	var order []string
	for _, c := range changes.Calls() {
		if c.Group == "" {
			continue
		}
		if groups[c.Group] == nil {
			groups[c.Group] = &views.HalfDone{Address: c.Address}
			order = append(order, c.Group)
		}
		g.count(groups[c.Group], c)
	}
	var list []views.HalfDone
	for _, name := range order {
		if x := groups[name]; len(x.Done) > 0 && len(x.Left) > 0 {
			list = append(list, *x)
		}
	}
	return list
}

// count adds a call to the intent that it belongs to.
func (g *Gatekeeper) count(x *views.HalfDone, c lowering.PlannedCall) {
	action := string(c.Operation.Action)
	if c.Deposed != "" {
		action = "delete of the deposed object"
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if match, ok := g.alike[c.ID]; ok { // it may be the one that has ended, or not
		x.Address = match.Name()
	}
	if g.ended[c.ID] {
		x.Done = append(x.Done, action)
	} else {
		x.Left = append(x.Left, action)
	}
}
