// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// maxOps bounds the transactions of a configuration.
const maxOps = 4

// Config is one configuration to explore.
type Config struct {
	Name     string
	Policies []admission.Policy // one session each
	Ops      []Op
	// There are the objects that exist at first, with the session that owns
	// them (-1: nobody known). Everything else is known to be absent, or not
	// known at all if Blind.
	There map[graph.NodeID]int
	// Links are references that exist at first.
	Links map[graph.NodeID]graph.NodeID
	Blind bool
	// Faults bounds the mishaps of one history: failures, losses, leaving.
	Faults int
	// Reads says that somebody reads this object once, at any time, and
	// reports what was seen at any later time; empty for nobody.
	Reads graph.NodeID
}

// run is the fate of one operation, as the world knows it.
type run struct {
	lowered   bool // the plan was made
	submitted bool
	inflight  bool // the call may be running
	told      bool // the coordinator knows how it ended
	ok        bool
	rounds    uint8 // resubmissions
	version   uint64
	life      uint64
	seenEdits int // of others, when the plan was made
	seenLife  uint8
}

// world is a machine and everything around it.
type world struct {
	config *Config
	state  *admission.State
	cloud  cloud
	runs   [maxOps]run
	gone   [sessionCount]bool
	// declared sessions have said what they will create.
	declared [sessionCount]bool
	read     struct {
		begun, done bool
		mark        uint64
		exists      bool
		refs        uint8
	}
	faults int
}

func (w *world) clone() *world {
	c := *w
	c.state = w.state.Clone()
	return &c
}

func sessionID(i int) admission.SessionID { return admission.SessionID(fmt.Sprintf("s%d", i)) }
func txID(i int) admission.TxID           { return admission.TxID(fmt.Sprintf("t%d", i)) }

// lease is longer than any history: leases end by an explicit move only.
const lease = int64(1) << 40

// patience is how long a sender may go on trying; no history lasts that long.
const patience = lease / 2

// begin opens the sessions and lets the coordinator see the cloud.
func begin(c *Config) (*world, error) {
	w := &world{config: c, state: admission.New()}
	for i := range objects {
		w.cloud.owner[i] = -1
	}
	for i, p := range c.Policies {
		open := admission.OpenSession{
			Stamp:   w.tick(1),
			Session: admission.Session{ID: sessionID(i), Policy: p, Lease: lease, Origin: "state-" + string(sessionID(i))},
			Intent:  admission.Intent{ID: admission.IntentID(fmt.Sprintf("i%d", i)), Objective: "explore"},
		}
		if _, err := w.state.Apply(open); err != nil {
			return nil, err
		}
	}
	for i, o := range objects {
		owner, there := c.There[o]
		if !there && c.Blind {
			continue
		}
		obs := admission.Observation{Decl: declOf(o), Exists: there, Edges: []graph.Edge{}}
		by := 0
		if there {
			w.cloud.exists[i] = true
			w.cloud.owner[i] = int8(owner)
			if owner >= 0 {
				by, obs.Address = owner, string(o)
			}
			if to, ok := c.Links[o]; ok {
				w.cloud.refs[i] = 1 << number(to)
				obs.Edges = []graph.Edge{{From: o, To: to, Kind: graph.References}}
			}
		}
		see := admission.Observe{
			Stamp: w.tick(1), Session: sessionID(by), Began: w.state.Index(),
			Nodes: decls(), Objects: []admission.Observation{obs},
		}
		if _, err := w.state.Apply(see); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func declOf(id graph.NodeID) graph.Decl {
	for _, d := range decls() {
		if d.ID == id {
			return d
		}
	}
	return graph.Decl{}
}

func (w *world) tick(by int64) admission.Stamp {
	return admission.Stamp{Now: w.state.Now() + by}
}

// request is what the coordinator is asked for an operation, with the guards
// that its plan was made on.
func (w *world) request(i int) admission.Request {
	op, r := &w.config.Ops[i], &w.runs[i]
	q := admission.Request{
		Session: sessionID(op.Session), Key: uint64(i + 1), Address: op.Name, Type: "sim",
		Action: op.Action, Self: op.Self, Nodes: decls(), Timeout: patience,
	}
	up := map[graph.NodeID]graph.NodeID{}
	for _, d := range q.Nodes {
		up[d.ID] = d.Parent
	}
	q.Locks = lock.Close(op.wants, func(id graph.NodeID) (graph.NodeID, bool) { return up[id], up[id] != "" })
	for _, g := range op.guards {
		switch g.Kind {
		case admission.Version:
			g.Value = r.version
		case admission.SameLife:
			g.Value = r.life
		}
		q.Guards = append(q.Guards, g)
	}
	q.KeepEdges = op.Action == admission.Update
	if op.Refers != "" {
		q.Edges = []graph.Edge{{From: op.Self, To: op.Refers, Kind: graph.References}}
	}
	return q
}

// lower makes the plan of an operation on what is known now.
func (w *world) lower(i int) {
	op, r := &w.config.Ops[i], &w.runs[i]
	r.lowered = true
	if op.versioned != "" {
		r.seenEdits = w.cloud.foreignEdits(number(op.versioned), op.Session)
		if n, ok := w.state.Graph().Get(op.versioned); ok {
			r.version = n.Version
		}
	}
	if op.lived != "" {
		r.seenLife = w.cloud.life[number(op.lived)]
		if n, ok := w.state.Graph().Get(op.lived); ok {
			r.life = n.Incarnation
		}
	}
}

// awaitsTruly says whether an operation needs an object that is not there and
// that another session has promised, while its own has not.
func (w *world) awaitsTruly(op *Op) bool {
	for _, need := range op.Requires {
		if !w.cloud.exists[number(need)] && w.promisedByOthers(need, op.Session) {
			return true
		}
	}
	return false
}

func (w *world) promisedByOthers(id graph.NodeID, session int) bool {
	foreign := false
	for i := range w.config.Ops {
		op := &w.config.Ops[i]
		if !op.Make || op.Self != id || !w.declared[op.Session] || w.gone[op.Session] || w.runs[i].told {
			continue
		}
		if op.Session == session {
			return false
		}
		foreign = true
	}
	return foreign
}

// order makes operations of one session follow each other as a plan would
// have it: parents before children, references before referrers, and the
// reverse for removals.
func order(ops []Op) {
	for j := range ops {
		for i := range ops {
			if i != j && ops[i].Session == ops[j].Session && precedes(&ops[i], &ops[j]) {
				ops[j].After = append(ops[j].After, i)
			}
		}
	}
}

func precedes(a, b *Op) bool {
	in := func(inner, outer graph.NodeID) bool { return inner != outer && inside(number(inner), number(outer)) }
	switch {
	case a.Make && !b.Remove:
		return in(b.Self, a.Self) || slices.Contains(b.Requires, a.Self)
	case a.Remove && b.Make:
		return a.Self == b.Self
	case a.Remove && b.Remove:
		return in(a.Self, b.Self) || a.Self == nic && b.Self == sub1
	default:
		return false
	}
}
