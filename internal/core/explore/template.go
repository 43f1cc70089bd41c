// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// templates are the operations on the network that configurations are made of.
// Subnets are parts of their network to the cloud: writing one is a write of the
// other.
var templates = map[string]func() Op{
	"make-group": func() Op { return create(group) },
	"make-net":   func() Op { return create(net, group) },
	"make-net-once": func() Op {
		o := create(net, group)
		o.guard(admission.SameLife, net)
		return o
	},
	"change-net": func() Op {
		o := Op{Action: admission.Update, Self: net, Requires: []graph.NodeID{net}}
		o.x(slot(net))
		o.guard(admission.Present, net)
		o.guard(admission.Version, net)
		o.writes = []touch{of(net, "children"), of(net, "config")}
		return o
	},
	"make-s1": func() Op { return makeSubnet(sub1) },
	"make-s2": func() Op { return makeSubnet(sub2) },
	"change-s1": func() Op {
		o := Op{Action: admission.Update, Self: sub1, Requires: []graph.NodeID{sub1}}
		o.x(config(sub1), slot(net))
		o.s(life(sub1))
		o.guard(admission.Present, sub1)
		o.guard(admission.SameLife, sub1)
		o.writes, o.reads = []touch{of(sub1, "config"), of(net, "children")}, []touch{the(sub1)}
		return o
	},
	"drop-s1": func() Op {
		o := remove(sub1)
		o.x(slot(net))
		o.writes = append(o.writes, of(net, "children"))
		return o
	},
	"drop-net":   func() Op { return remove(net) },
	"drop-group": func() Op { return remove(group) },
	"read-net": func() Op {
		o := Op{Action: admission.Read, Self: net, Requires: []graph.NodeID{net}}
		o.s(net)
		o.guard(admission.Present, net)
		o.reads = []touch{all(net)}
		return o
	},
	"make-nic": func() Op {
		o := create(nic, group, sub1)
		o.s(life(sub1))
		o.Refers, o.reads = sub1, []touch{the(sub1)}
		return o
	},
	"drop-nic": func() Op {
		o := remove(nic)
		o.s(life(sub1))
		o.reads = []touch{the(sub1)}
		return o
	},
	"change-nic": func() Op {
		o := Op{Action: admission.Update, Self: nic, Requires: []graph.NodeID{nic}}
		o.x(config(nic))
		o.guard(admission.Present, nic)
		o.writes, o.reads = []touch{of(nic, "config")}, []touch{the(nic)}
		return o
	},
	"join-sg-s1": func() Op {
		o := Op{Action: admission.Update, Self: sg, Requires: []graph.NodeID{sg, sub1}}
		o.x(config(sg), config(sub1))
		o.s(life(sub1))
		o.guard(admission.Present, sg, sub1)
		o.guard(admission.Version, sg)
		o.writes, o.reads = []touch{of(sg, "config"), of(sub1, "config")}, []touch{the(sub1), the(sg)}
		return o
	},
}

func create(self graph.NodeID, needs ...graph.NodeID) Op {
	o := Op{Action: admission.Create, Self: self, Make: true, Requires: needs, writes: []touch{all(self)}}
	o.x(self)
	o.guard(admission.Present, needs...)
	return o
}

func remove(self graph.NodeID) Op {
	o := Op{Action: admission.Delete, Self: self, Remove: true, writes: []touch{all(self)}}
	o.x(self)
	o.guard(admission.Unreferenced, self)
	return o
}

func makeSubnet(id graph.NodeID) Op {
	o := create(id, net)
	o.x(slot(net))
	o.writes = append(o.writes, of(net, "children"))
	return o
}

// change, destroy and build are the operations on the plain objects: each writes
// its own object with all in it, and is planned on the life of that.
func change(self graph.NodeID, reads ...graph.NodeID) Op {
	return simple(Op{Name: "update " + string(self), Action: admission.Update, Self: self}, reads)
}

func destroy(self graph.NodeID, group int, after ...int) Op {
	return simple(Op{Name: "delete " + string(self), Action: admission.Delete, Self: self, Remove: true, Group: group, After: after}, nil)
}

func build(self graph.NodeID, group int, after ...int) Op {
	return simple(Op{Name: "create " + string(self), Action: admission.Create, Self: self, Make: true, Group: group, After: after}, nil)
}

func simple(o Op, reads []graph.NodeID) Op {
	o.x(o.Self)
	o.s(reads...)
	o.writes = []touch{all(o.Self)}
	for _, r := range reads {
		o.reads = append(o.reads, all(r))
	}
	return o
}
