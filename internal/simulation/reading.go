// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

func lower(s string) string { return strings.ToLower(s) }

// seenObject is what a read has shown of an object.
type seenObject struct {
	id    arm.ID
	r     arm.Resource
	there bool
}

// see lets the engine say what a read means; ok is false when it cannot.
func (w *World) see(o seenObject) (ruleengine.Seen, bool) {
	seen, ok, err := w.engine.See(object(o.id, o.r, o.there))
	if err != nil {
		w.fail("see %s: %v", o.id, err)
	}
	return seen, ok
}

// read reads a path of the cloud until there is an answer, by a process that may
// die meanwhile.
func (x *run) read(p *process, path string, done func(r arm.Resource, there bool)) {
	w, over := p.w, false
	life := p.life
	w.toCloud(p.machine, func() {
		r, refusal := w.cloud.Read(simcloud.Call{Method: "GET", Path: path, Actor: x.name})
		w.toCloud(p.machine, func() {
			p.doIn(life, func() {
				if !over {
					over = true
					done(r, refusal == nil)
				}
			})
		})
	})
	p.after(2*slowestLanding+time.Second, func() {
		if !over {
			over = true
			x.read(p, path, done)
		}
	})
}

func owners(list []ruleengine.Bucket) []graph.Decl {
	var nodes []graph.Decl
	for _, b := range list {
		nodes = append(nodes, b.Owner)
	}
	return nodes
}

// measure reads the owners of buckets and tells of them, then goes on.
func (x *run) measure(owners []graph.Decl, done func()) {
	unique := map[graph.NodeID]bool{}
	var ids []arm.ID
	for _, n := range owners {
		if id, err := arm.ParseID(cloudPath(n.ID)); err == nil && !unique[n.ID] {
			unique[n.ID] = true
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 || x.lost {
		done()
		return
	}
	x.ask(whichMoment(), func(value any, _ error) {
		began, left := value.(moment), len(ids)
		m := admission.Measure{Session: x.session, Began: began.index}
		for _, id := range ids {
			x.read(x.process, id.String(), func(r arm.Resource, there bool) {
				if there {
					if seen, ok := x.w.see(seenObject{id, r, there}); ok {
						m.Readings = append(m.Readings, seen.Readings...)
					}
				}
				if left--; left == 0 {
					x.tell(m, done)
				}
			})
		}
	})
}

func (x *run) tell(m admission.Measure, done func()) {
	if len(m.Readings) == 0 {
		done()
		return
	}
	x.ask(plain("measure", func(stamp admission.Stamp) admission.Command {
		m := m
		m.Stamp = stamp
		return m
	}), func(_ any, err error) {
		x.lose(err)
		done()
	})
}

// investigate reads the objects of calls whose outcome nobody knows, and tells
// what it found: the coordinator says whether that proves anything.
func (x *run) investigate() {
	if x.lost || x.closing {
		return
	}
	x.ask(unsettled(), func(value any, _ error) {
		list := value.([]admission.Tx)
		if len(list) == 0 {
			return
		}
		x.ask(whichMoment(), func(value any, _ error) {
			for _, tx := range list {
				x.settle(tx, value.(moment))
			}
		})
	})
}

func (x *run) settle(tx admission.Tx, began moment) {
	if x.reading[tx.ID] {
		return
	}
	x.reading[tx.ID] = true
	path, property := strings.CutSuffix(cloudPath(tx.Self), lower("/networkSecurityGroupAssociation"))
	x.read(x.process, path, func(r arm.Resource, there bool) {
		s := admission.Settle{Session: x.session, Tx: tx.ID, Began: began.index, BeganAt: began.at, Exists: there, Terminal: true}
		if there {
			s.Terminal = terminal(r)
		}
		if property {
			s.Exists = there && r.Properties.NetworkSecurityGroup != nil
			s.Terminal = !there || terminal(r)
		}
		x.ask(settle(s), func(_ any, err error) {
			delete(x.reading, tx.ID)
			if err == nil {
				x.w.settled++
			}
			x.lose(err)
		})
	})
}

func terminal(r arm.Resource) bool {
	switch r.Properties.ProvisioningState {
	case arm.Creating, arm.Updating, arm.Deleting:
		return false
	default:
		return true
	}
}
