// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// touch is a thing of the cloud that an operation reads or writes: an object, an
// aspect of one ("r/g/v:children"), or an object with all it contains.
type touch struct {
	thing string
	deep  bool
}

func one(thing string) touch             { return touch{thing: thing} }
func all(id graph.NodeID) touch          { return touch{thing: string(id), deep: true} }
func the(id graph.NodeID) touch          { return one(string(id)) }
func of(id graph.NodeID, a string) touch { return one(string(id) + ":" + a) }

// overlaps says whether two touches meet.
func (t touch) overlaps(o touch) bool {
	return t.thing == o.thing || t.deep && o.below(t) || o.deep && t.below(o)
}

func (t touch) below(o touch) bool {
	rest, ok := strings.CutPrefix(t.thing, o.thing)
	return ok && rest != "" && (rest[0] == '/' || rest[0] == ':')
}

// Op is an operation of a configuration: what it asks of the coordinator, and,
// separately, what it does to the cloud.
type Op struct {
	Name    string
	Session int
	Action  admission.Action
	Self    graph.NodeID
	wants   []lock.Want
	guards  []admission.Guard

	// The ground truth, written down independently of the locks.
	writes []touch
	readsT []touch
	// Make and Remove say what becomes of Self.
	Make, Remove bool
	// Refers is the object that Self refers to afterwards.
	Refers graph.NodeID
	// Requires must exist while the operation runs.
	Requires []graph.NodeID
	// After are operations of the same session that must have succeeded first.
	After []int
	// versioned and lived are the objects whose version or life the plan was
	// made on.
	versioned, lived graph.NodeID
}

func (o *Op) reads() bool { return o.Action == admission.Read }

// disturbs says whether two operations must not run at the same time.
func (o *Op) disturbs(p *Op) bool {
	return meet(o.writes, p.writes) || meet(o.writes, p.readsT) || meet(o.readsT, p.writes)
}

func meet(a, b []touch) bool {
	for _, x := range a {
		for _, y := range b {
			if x.overlaps(y) {
				return true
			}
		}
	}
	return false
}

func x(n graph.NodeID) lock.Want { return want(n, mode.X) }
func s(n graph.NodeID) lock.Want { return want(n, mode.S) }

func want(n graph.NodeID, m mode.Mode) lock.Want {
	return lock.Want{Node: n, Mode: m, Relation: lock.Rule, Rule: "explore/" + string(n), Class: "in_flight"}
}

func slot(n graph.NodeID) graph.NodeID   { return graph.FacetOf(n, "slot") }
func life(n graph.NodeID) graph.NodeID   { return graph.FacetOf(n, graph.Life) }
func config(n graph.NodeID) graph.NodeID { return graph.FacetOf(n, graph.Config) }

func guard(k admission.GuardKind, n graph.NodeID) admission.Guard {
	return admission.Guard{Kind: k, Node: n, Rule: "explore/guard"}
}

// template is an operation before it is given to a session.
type template func() Op

// templates are the operations that configurations are made of. Subnets are
// parts of their network to the cloud: writing one is a write of the other.
var templates = map[string]template{
	"make-group": func() Op {
		return Op{
			Action: admission.Create, Self: group, Make: true,
			wants: []lock.Want{x(group)}, writes: []touch{all(group)},
		}
	},
	"make-net": func() Op {
		return Op{
			Action: admission.Create, Self: net, Make: true, Requires: []graph.NodeID{group},
			wants: []lock.Want{x(net)}, guards: []admission.Guard{guard(admission.Present, group)},
			writes: []touch{all(net)},
		}
	},
	"make-net-once": func() Op {
		return Op{
			Action: admission.Create, Self: net, Make: true, Requires: []graph.NodeID{group}, lived: net,
			wants:  []lock.Want{x(net)},
			guards: []admission.Guard{guard(admission.Present, group), guard(admission.SameLife, net)},
			writes: []touch{all(net)},
		}
	},
	"change-net": func() Op {
		return Op{
			Action: admission.Update, Self: net, Requires: []graph.NodeID{net}, versioned: net,
			wants:  []lock.Want{x(slot(net))},
			guards: []admission.Guard{guard(admission.Present, net), guard(admission.Version, net)},
			writes: []touch{of(net, "children"), of(net, "config")},
		}
	},
	"make-s1": func() Op { return makeSubnet(sub1) },
	"make-s2": func() Op { return makeSubnet(sub2) },
	"change-s1": func() Op {
		return Op{
			Action: admission.Update, Self: sub1, Requires: []graph.NodeID{sub1}, lived: sub1,
			wants:  []lock.Want{x(config(sub1)), s(life(sub1)), x(slot(net))},
			guards: []admission.Guard{guard(admission.Present, sub1), guard(admission.SameLife, sub1)},
			writes: []touch{of(sub1, "config"), of(net, "children")}, readsT: []touch{the(sub1)},
		}
	},
	"drop-s1": func() Op {
		return Op{
			Action: admission.Delete, Self: sub1, Remove: true,
			wants:  []lock.Want{x(sub1), x(slot(net))},
			guards: []admission.Guard{guard(admission.Unreferenced, sub1)},
			writes: []touch{all(sub1), of(net, "children")},
		}
	},
	"drop-net": func() Op {
		return Op{
			Action: admission.Delete, Self: net, Remove: true,
			wants: []lock.Want{x(net)}, guards: []admission.Guard{guard(admission.Unreferenced, net)},
			writes: []touch{all(net)},
		}
	},
	"drop-group": func() Op {
		return Op{
			Action: admission.Delete, Self: group, Remove: true,
			wants: []lock.Want{x(group)}, guards: []admission.Guard{guard(admission.Unreferenced, group)},
			writes: []touch{all(group)},
		}
	},
	"read-net": func() Op {
		return Op{
			Action: admission.Read, Self: net, Requires: []graph.NodeID{net},
			wants: []lock.Want{s(net)}, guards: []admission.Guard{guard(admission.Present, net)},
			readsT: []touch{all(net)},
		}
	},
	"make-nic": func() Op {
		return Op{
			Action: admission.Create, Self: nic, Make: true, Refers: sub1, Requires: []graph.NodeID{group, sub1},
			wants:  []lock.Want{x(nic), s(life(sub1))},
			guards: []admission.Guard{guard(admission.Present, group), guard(admission.Present, sub1)},
			writes: []touch{all(nic)}, readsT: []touch{the(sub1)},
		}
	},
	"drop-nic": func() Op {
		return Op{
			Action: admission.Delete, Self: nic, Remove: true,
			wants:  []lock.Want{x(nic), s(life(sub1))},
			guards: []admission.Guard{guard(admission.Unreferenced, nic)},
			writes: []touch{all(nic)}, readsT: []touch{the(sub1)},
		}
	},
	"change-nic": func() Op {
		return Op{
			Action: admission.Update, Self: nic, Requires: []graph.NodeID{nic},
			wants: []lock.Want{x(config(nic))}, guards: []admission.Guard{guard(admission.Present, nic)},
			writes: []touch{of(nic, "config")}, readsT: []touch{the(nic)},
		}
	},
	"join-sg-s1": func() Op {
		return Op{
			Action: admission.Update, Self: sg, Requires: []graph.NodeID{sg, sub1}, versioned: sg,
			wants: []lock.Want{x(config(sg)), x(config(sub1)), s(life(sub1))},
			guards: []admission.Guard{
				guard(admission.Present, sg), guard(admission.Present, sub1), guard(admission.Version, sg),
			},
			writes: []touch{of(sg, "config"), of(sub1, "config")}, readsT: []touch{the(sub1), the(sg)},
		}
	},
}

func makeSubnet(id graph.NodeID) Op {
	return Op{
		Action: admission.Create, Self: id, Make: true, Requires: []graph.NodeID{net},
		wants: []lock.Want{x(id), x(slot(net))}, guards: []admission.Guard{guard(admission.Present, net)},
		writes: []touch{all(id), of(net, "children")},
	}
}

// decls places the objects and facets that any operation may name.
func decls() []graph.Decl {
	list := []graph.Decl{{ID: realm, Kind: graph.Realm}}
	for _, o := range objects {
		parent := o[:strings.LastIndex(string(o), "/")]
		list = append(list, graph.Decl{ID: o, Parent: parent, Kind: graph.Resource, Type: "sim"})
	}
	for _, o := range []graph.NodeID{net, sub1, sg, nic} {
		for _, f := range []string{"slot", graph.Life, graph.Config} {
			list = append(list, graph.Decl{ID: graph.FacetOf(o, f), Parent: o, Kind: graph.Facet})
		}
	}
	return list
}
