// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// maxObjects and maxOps bound a configuration.
const (
	maxObjects  = 6
	maxOps      = 8
	maxSessions = 3
	buckets     = 2
)

// The objects of the two landscapes: a network with its parts, and plain
// objects of which one contains another. The realm is not an object.
const (
	group = graph.NodeID("r/g")
	net   = graph.NodeID("r/g/v")
	sub1  = graph.NodeID("r/g/v/s1")
	sub2  = graph.NodeID("r/g/v/s2")
	sg    = graph.NodeID("r/g/n")
	nic   = graph.NodeID("r/g/p")
)

var (
	network = []graph.NodeID{group, net, sub1, sub2, sg, nic}
	plain   = []graph.NodeID{"r/x", "r/y", "r/z", "r/p", "r/p/c"}
)

// inside says whether a node is another one or contained in it.
func inside(inner, outer graph.NodeID) bool {
	return inner == outer || strings.HasPrefix(string(inner), string(outer)+"/")
}

// place declares a node and everything above it.
func place(id graph.NodeID) []graph.Decl {
	i := strings.LastIndexByte(string(id), '/')
	if i < 0 {
		return []graph.Decl{{ID: id, Kind: graph.Realm}}
	}
	d := graph.Decl{ID: id, Parent: id[:i], Kind: graph.Resource, Type: resourceType}
	if id[i+1] == '~' {
		d.Kind, d.Type = graph.Facet, ""
	}
	return append(place(id[:i]), d)
}

const resourceType = "sim_thing"

// placed are the declarations of several nodes, each once, parents first.
func placed(ids ...graph.NodeID) []graph.Decl {
	var list []graph.Decl
	for _, id := range ids {
		for _, d := range place(id) {
			if !slices.Contains(list, d) {
				list = append(list, d)
			}
		}
	}
	return list
}

// touch is a thing of the cloud that an operation reads or writes: an object,
// an aspect of one ("r/g/v:children"), or an object with all it contains.
type touch struct {
	thing string
	deep  bool
}

func all(id graph.NodeID) touch          { return touch{string(id), true} }
func the(id graph.NodeID) touch          { return touch{string(id), false} }
func of(id graph.NodeID, a string) touch { return touch{string(id) + ":" + a, false} }

func (t touch) overlaps(o touch) bool {
	return t.thing == o.thing || t.deep && o.below(t) || o.deep && t.below(o)
}

func (t touch) below(o touch) bool {
	rest, ok := strings.CutPrefix(t.thing, o.thing)
	return ok && rest != "" && (rest[0] == '/' || rest[0] == ':')
}

func meet(a, b []touch) bool {
	for _, x := range a {
		if slices.ContainsFunc(b, x.overlaps) {
			return true
		}
	}
	return false
}
