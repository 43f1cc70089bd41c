// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package runs

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// fate is how far a call has come, as its run sees it.
type fate uint8

const (
	fresh   fate = iota
	asked        // submitted
	good         // succeeded
	bad          // failed, refused or lost
	skipped      // something before it did not succeed
)

// call is one call as the world knows it.
type call struct {
	fate fate
	// inflight: it may take effect at any time.
	inflight bool
	landed   bool // it has taken effect
}

type run struct {
	reserved bool // the reservation was submitted
	closed   bool
	dead     bool
	gaveUp   bool // the reservation was withdrawn
	calls    [maxCalls]call
	lives    [nodeCount]uint8 // that the plan was made on
}

// world is the machine with everything around it.
type world struct {
	config *Config
	state  *admission.State
	runs   [maxRuns]run
	life   [nodeCount]uint8
	use    [buckets]int64
	broken [nodeCount]bool // reported as half replaced
	faults int
	// limits are the highest so far, limit the present ones, and spoiled the objects that somebody has
	// written without holding them.
	limits, limit [buckets]int64
	spoiled       [nodeCount]bool
	read          reading
	shifted       bool
}

// reading is a read of all buckets that is under way, or over.
type reading struct {
	begun, over bool
	mark        uint64
	use         [buckets]int64 // when it began
}

func (w *world) clone() *world {
	c := *w
	c.state = w.state.Clone()
	return &c
}

func session(i int) admission.SessionID { return admission.SessionID(fmt.Sprintf("s%d", i)) }
func planID(i int) admission.TxID       { return admission.TxID(fmt.Sprintf("p%d", i)) }
func txID(i, j int) admission.TxID      { return admission.TxID(fmt.Sprintf("t%d.%d", i, j)) }
func callID(j int) admission.CallID     { return admission.CallID(fmt.Sprintf("c%d", j)) }
func bucket(b int) escrow.Key           { return escrow.Key(fmt.Sprintf("q%d", b)) }

// observer is a session that only reads.
const observer = admission.SessionID("reader")

func (w *world) tick(by int64) admission.Stamp { return admission.Stamp{Now: w.state.Now() + by} }

// lease is longer than any history, and shorter than a sender may go on trying.
const lease = int64(1) << 40

func begin(c *Config) (*world, error) {
	w := &world{config: c, state: admission.New(), use: c.Use, limits: c.Limits, limit: c.Limits}
	open := func(id admission.SessionID, p admission.Policy) error {
		_, err := w.state.Apply(admission.OpenSession{
			Stamp:   w.tick(1),
			Session: admission.Session{ID: id, Policy: p, Lease: lease, Origin: "state-" + string(id)},
			Intent:  admission.Intent{ID: admission.IntentID("i-" + id), Objective: "explore"},
		})
		return err
	}
	if err := open(observer, admission.Queue); err != nil {
		return nil, err
	}
	for i, r := range c.Runs {
		if err := open(session(i), r.Policy); err != nil {
			return nil, err
		}
	}
	see := admission.Observe{Stamp: w.tick(1), Session: observer, Began: w.state.Index(), Nodes: decls()}
	for i, d := range decls()[1:] {
		see.Objects = append(see.Objects, admission.Observation{Decl: d, Exists: true, Edges: []graph.Edge{}})
		w.life[i] = 1
	}
	if _, err := w.state.Apply(see); err != nil {
		return nil, err
	}
	measure := admission.Measure{Stamp: w.tick(1), Session: observer, Began: w.state.Index()}
	for b := range buckets {
		measure.Readings = append(measure.Readings, admission.Reading{
			Bucket: bucket(b), Limit: escrow.At(c.Limits[b]), Use: escrow.At(c.Use[b]),
		})
	}
	_, err := w.state.Apply(measure)
	return w, err
}

func locksOf(c *Call) lock.Plan {
	up := map[graph.NodeID]graph.NodeID{}
	for _, d := range decls() {
		up[d.ID] = d.Parent
	}
	wants := []lock.Want{{Node: nodes[c.Self], Mode: mode.X, Relation: lock.Same, Rule: "sim/write"}}
	for _, r := range c.Reads {
		wants = append(wants, lock.Want{Node: nodes[r], Mode: mode.S, Relation: lock.Reference, Rule: "sim/read"})
	}
	return lock.Close(wants, func(id graph.NodeID) (graph.NodeID, bool) { return up[id], up[id] != "" })
}

func effectsOf(c *Call) escrow.Effects {
	var list []escrow.Effect
	for b, n := range c.Effects {
		list = append(list, escrow.Effect{Bucket: bucket(b), Amount: n})
	}
	return escrow.Collect(list...)
}

// guards pin a call to the life that its run has planned on. What the run makes
// itself has none yet.
func (w *world) guards(i int, c *Call) []admission.Guard {
	made := slices.ContainsFunc(w.config.Runs[i].Calls, func(o Call) bool {
		return o.Self == c.Self && o.Action == admission.Create && c.Action != admission.Delete
	})
	if made {
		return nil
	}
	value := uint64(w.runs[i].lives[c.Self] &^ 0x80)
	return []admission.Guard{{Kind: admission.SameLife, Node: nodes[c.Self], Value: value}}
}

func (w *world) reservation(i int) admission.Request {
	r := &w.config.Runs[i]
	q := admission.Request{Session: session(i), Action: admission.Reserve, Key: 99, Nodes: decls(), Whole: r.Whole, Advisory: r.Watch}
	for j := range r.Calls {
		c := &r.Calls[j]
		if c.Extra {
			continue
		}
		p := admission.Planned{
			ID: callID(j), Self: nodes[c.Self], Action: c.Action, Address: c.Name,
			Locks: locksOf(c), Guards: w.guards(i, c), Effects: effectsOf(c),
		}
		for _, a := range c.After {
			p.After = append(p.After, callID(a))
		}
		if c.Group != 0 {
			p.Group = fmt.Sprint(c.Group)
		}
		q.Calls = append(q.Calls, p)
	}
	return q
}

func (w *world) request(i, j int) admission.Request {
	c := &w.config.Runs[i].Calls[j]
	q := admission.Request{
		Session: session(i), Key: uint64(j + 1), Address: c.Name, Type: "sim", Action: c.Action, Self: nodes[c.Self],
		Nodes: decls(), Locks: locksOf(c), Guards: w.guards(i, c), Effects: effectsOf(c), KeepEdges: true,
		Advisory: w.config.Runs[i].Watch,
	}
	if w.config.Runs[i].asks() && !c.Extra {
		q.Plan, q.Call = planID(i), callID(j)
	}
	return q
}

// key identifies a world up to what makes no difference to its future.
func (w *world) key() [32]byte {
	f := w.state.Fingerprint(w.read.mark)
	b := append(make([]byte, 0, 256), f[:]...)
	for i := range w.config.Runs {
		r := &w.runs[i]
		b = append(b, flag(r.reserved), flag(r.closed), flag(r.dead), flag(r.gaveUp))
		b = append(b, r.lives[:]...)
		for j := range w.config.Runs[i].Calls {
			k := r.calls[j]
			readable := w.state.Readable(txID(i, j))
			b = append(b, byte(k.fate), flag(k.inflight), flag(k.landed), flag(readable != 0 && readable <= w.state.Now()))
		}
	}
	b = append(b, w.life[:]...)
	for i, u := range w.use {
		b = append(b, byte(u), byte(i))
	}
	for i, x := range w.broken {
		b = append(b, flag(x), flag(w.spoiled[i]))
	}
	b = append(b, flag(w.read.begun), flag(w.read.over), flag(w.shifted))
	for i := range buckets {
		b = append(b, byte(w.read.use[i]), byte(w.limits[i]), byte(w.limit[i]))
	}
	return sha256.Sum256(append(b, byte(w.faults)))
}

func flag(v bool) byte {
	if v {
		return 1
	}
	return 0
}
