// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// TestIDsOfWhatWasThere: the id that the cloud gave to a new object cannot be that
// of one that was there before the call was sent, also if nobody is known to own
// that one. What was first seen afterwards may be the new object itself, and what
// had gone before has left its id behind.
func TestIDsOfWhatWasThere(t *testing.T) {
	t.Parallel()
	const self, id = graph.NodeID("~pending/a/vm"), graph.NodeID("r/g/vm-1")
	there, gone := Observation{Exists: true, Digest: "d"}, Observation{}
	for name, c := range map[string]struct {
		before, after []Observation
		collides      bool
	}{
		"nobody has seen it":         {nil, nil, false},
		"seen before":                {[]Observation{there}, nil, true},
		"seen before, and again":     {[]Observation{there}, []Observation{there}, true},
		"seen since":                 {nil, []Observation{there}, false},
		"seen since, and again":      {nil, []Observation{there, there}, false},
		"gone before":                {[]Observation{there, gone}, nil, false},
		"gone before, and seen anew": {[]Observation{there, gone}, []Observation{there}, false},
		"gone, and seen anew before": {[]Observation{there, gone, there}, nil, true},
		"gone since":                 {[]Observation{there}, []Observation{gone}, false},
		"changed since":              {[]Observation{there}, []Observation{{Exists: true, Digest: "e"}}, true},
	} {
		m := newMachine(t, "a", "b")
		decls := place(id)
		see := func(list []Observation) {
			for _, o := range list {
				o.Decl = decls[len(decls)-1]
				m.must(Observe{Stamp: m.tick(), Session: "b", Began: m.Index(), Nodes: decls[:len(decls)-1], Objects: []Observation{o}})
			}
		}
		see(c.before)
		m.submit("t", write("a", Create, self))
		m.start("t")
		see(c.after)
		m.must(Complete{
			Stamp: m.tick(), Tx: "t", Token: m.txToken("t"), Result: Succeeded, Bind: graph.Decl{ID: id, Parent: "r/g"},
		})
		m.want("t", Operational)
		named, _ := m.graph.Get(self)
		object, _ := m.graph.Get(id)
		if (named.Collides == id) != c.collides || (object.Collides == self) != c.collides {
			t.Errorf("%s: %q collides with %q", name, named.Collides, object.Collides)
		}
		if (named.BoundTo == id) == c.collides || (object.Owner == "state of a") == c.collides {
			t.Errorf("%s: bound to %q, which is of %q", name, named.BoundTo, object.Owner)
		}
	}
}
