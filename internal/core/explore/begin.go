// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// beginning are the commands before the search: the sessions open, and those
// who own objects have read them.
func (n *node) beginning(c *Config) []admission.Command {
	now := int64(0)
	tick := func() admission.Stamp { now++; return admission.Stamp{Now: now} }
	index := uint64(0)
	list := []admission.Command{opening(tick(), observer, admission.Queue)}
	for s, x := range c.Sessions {
		list = append(list, opening(tick(), sessionIDs[s], x.Policy))
	}
	index = uint64(len(list))
	for s := -1; s < len(c.Sessions); s++ {
		see := admission.Observe{Stamp: tick(), Session: observer, Began: index}
		if s >= 0 {
			see.Session = sessionIDs[s]
		}
		for _, i := range objectsOf(c, s) {
			see.Objects = append(see.Objects, c.seen(i, true, s))
		}
		if s < 0 && !c.Blind {
			for i, o := range c.Objects {
				if _, there := c.There[o]; !there {
					see.Objects = append(see.Objects, c.seen(i, false, s))
				}
			}
		}
		for _, o := range see.Objects {
			see.Nodes = append(see.Nodes, placed(o.Decl.Parent)...)
		}
		if len(see.Objects) > 0 {
			list = append(list, see)
			index++
		}
	}
	if c.Capacity {
		m := admission.Measure{Stamp: tick(), Session: observer, Began: index}
		for b := range buckets {
			m.Readings = append(m.Readings, admission.Reading{
				Bucket: bucketKey(b), Limit: escrow.At(int64(c.Limits[b])), Use: escrow.At(int64(c.Use[b])),
			})
		}
		list = append(list, m)
	}
	return list
}

func opening(at admission.Stamp, id admission.SessionID, p admission.Policy) admission.Command {
	return admission.OpenSession{
		Stamp:   at,
		Session: admission.Session{ID: id, Actor: string(id), Policy: p, Lease: lease, Origin: state(id)},
		Intent:  admission.Intent{ID: admission.IntentID("i-" + id), Objective: "explore"},
	}
}

// seen is an object as its owner sees it at first.
func (c *Config) seen(i int, there bool, owner int) admission.Observation {
	id := c.Objects[i]
	d := place(id)
	o := admission.Observation{Decl: d[len(d)-1], Exists: there, Edges: []graph.Edge{}}
	if owner >= 0 {
		o.Address = string(id)
	}
	if to, ok := c.Links[id]; ok && there {
		o.Edges = append(o.Edges, graph.Edge{From: id, To: to, Kind: graph.References})
	}
	return o
}
