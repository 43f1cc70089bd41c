// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// order of the commands that the core may get.
type verb uint8

const (
	noCommand verb = iota
	cSubmit        // a is the version and b the life that the plan was made on
	cAgain         // the request of a stale transaction as it was
	cReserve
	cStart
	cDone // a is the result, b whether the object is there
	cWithdraw
	cResolve // a: the object is there
	cSettle  // a: the object is there
	cPass
	cDeclare // a are the operations whose objects are promised
	cClose
	cExpire
	cDead
	cGiveUp
	cPause
	cLead
	cLook // a read begins: 0 of an object, 1 of the buckets
	cSee  // a: the object is there, b are the objects it refers to
	cMeter
	cLimit // a is the limit of the first bucket
)

// command is a command of the core without its time, and with all in it that
// does not follow from the state.
type command struct {
	verb verb
	who  uint8 // operation, or session
	a, b uint8
}

// results of a call, for cDone.
var results = [...]admission.Result{admission.Succeeded, admission.Errored, admission.Lost, admission.NotSent}

const (
	succeeded = iota
	errored
	lost
	notSent
)

// lease is longer than any history, and shorter than a sender may go on trying:
// leases end by an explicit move only.
const lease = int64(1) << 40

// pause is long enough that a stale transaction loses its place, and that a
// request of a dead sender has arrived or never will.
const pause = int64(11e9)

// commands spells a command out on a state. More than one is what the shell does
// in one go.
func (n *node) commands(c *Config, x command) []admission.Command {
	s, id := n.state, txID(int(x.who)&7)
	at := admission.Stamp{Now: s.Now() + 1}
	tx, _ := s.Tx(id)
	switch x.verb {
	case cSubmit:
		return []admission.Command{admission.Submit{Stamp: at, ID: id, Request: n.request(c, int(x.who), uint64(x.a), uint64(x.b))}}
	case cAgain:
		return []admission.Command{admission.Submit{Stamp: at, ID: id, Request: tx.Request}}
	case cReserve:
		return []admission.Command{admission.Submit{Stamp: at, ID: planID(int(x.who)), Request: n.reservation(c, int(x.who))}}
	case cStart:
		return []admission.Command{admission.Start{Stamp: at, Tx: id, Token: tx.Token}}
	case cDone:
		return []admission.Command{admission.Complete{Stamp: at, Tx: id, Token: tx.Token, Result: results[x.a], Exists: x.b != 0}}
	case cWithdraw:
		return []admission.Command{admission.Withdraw{Stamp: at, Tx: id, Cause: "explored"}}
	case cResolve:
		return []admission.Command{admission.Resolve{Stamp: at, Tx: id, Actor: "explorer", Reason: "looked", Exists: x.a != 0}}
	case cSettle:
		return []admission.Command{admission.Settle{
			Stamp: at, Session: observer, Tx: id, Began: s.Index(), BeganAt: s.Now(), Exists: x.a != 0, Terminal: true,
		}}
	case cPass:
		return []admission.Command{admission.Pass{Stamp: at, Tx: id, Mode: "override", By: "explorer", Reason: "must"}}
	default:
		return n.sessionCommands(c, x, at)
	}
}

func (n *node) sessionCommands(c *Config, x command, at admission.Stamp) []admission.Command {
	id := sessionIDs[x.who%maxSessions]
	switch x.verb {
	case cDeclare:
		d := admission.Declare{Stamp: at, Session: id}
		for i := range c.Ops {
			if x.a&(1<<i) != 0 {
				d.Creates = append(d.Creates, place(c.Ops[i].Self)...)
				d.Selves = append(d.Selves, c.Ops[i].Self)
			}
		}
		return []admission.Command{d}
	case cClose:
		return []admission.Command{admission.CloseSession{Stamp: at, Session: id}}
	case cExpire:
		return n.expiry(id)
	case cDead:
		return []admission.Command{admission.Deceased{Stamp: at, Session: id}}
	case cGiveUp:
		return []admission.Command{admission.Withdraw{Stamp: at, Tx: planID(int(x.who)), Cause: "explored"}}
	case cPause:
		return []admission.Command{admission.Renew{Stamp: admission.Stamp{Now: at.Now + pause}, Session: observer}}
	case cLead:
		return n.renewals(at, "")
	default:
		return n.readings(c, x, at)
	}
}

// expiry is the end of one lease, and of no other.
func (n *node) expiry(id admission.SessionID) []admission.Command {
	x, _ := n.state.Session(id)
	list := n.renewals(admission.Stamp{Now: x.Expires - 1}, id)
	return append(list, admission.Expire{Stamp: admission.Stamp{Now: x.Expires}})
}

// renewals are signs of life of all sessions but one.
func (n *node) renewals(at admission.Stamp, but admission.SessionID) []admission.Command {
	var list []admission.Command
	for _, o := range n.state.Sessions() {
		if o.ID != but && o.EndedAt == 0 {
			list = append(list, admission.Renew{Stamp: at, Session: o.ID})
		}
	}
	return list
}

func (n *node) readings(c *Config, x command, at admission.Stamp) []admission.Command {
	switch x.verb {
	case cSee:
		o := admission.Observation{Decl: place(c.Reads)[len(place(c.Reads))-1], Exists: x.a != 0, Edges: []graph.Edge{}}
		for i, to := range c.Objects {
			if x.b&(1<<i) != 0 {
				o.Edges = append(o.Edges, graph.Edge{From: c.Reads, To: to, Kind: graph.References})
			}
		}
		return []admission.Command{admission.Observe{
			Stamp: at, Session: observer, Began: n.marks[0], Nodes: placed(c.Objects...), Objects: []admission.Observation{o},
		}}
	case cMeter:
		m := admission.Measure{Stamp: at, Session: observer, Began: n.marks[1]}
		for b, use := range [buckets]uint8{x.a, x.b} {
			m.Readings = append(m.Readings, admission.Reading{Bucket: bucketKey(b), Use: escrow.At(int64(int8(use)))})
		}
		return []admission.Command{m}
	case cLimit:
		r := admission.Reading{Bucket: bucketKey(0), Limit: escrow.At(int64(x.a))}
		return []admission.Command{admission.Measure{Stamp: at, Session: observer, Began: n.state.Index(), Readings: []admission.Reading{r}}}
	default:
		return nil
	}
}

// request is what the coordinator is asked for an operation.
func (n *node) request(c *Config, i int, version, life uint64) admission.Request {
	op := &c.Ops[i]
	q := admission.Request{
		Session: sessionIDs[op.Session], Key: uint64(i + 1), Address: string(op.Self), Type: resourceType,
		Action: op.Action, Self: op.Self, Nodes: placed(op.named()...), Locks: op.plan(),
		KeepEdges: op.Refers == "" && op.Action != admission.Create, Effects: effectsOf(op), Advisory: c.Sessions[op.Session].Watch,
	}
	for _, g := range op.guards {
		switch g.Kind {
		case admission.Version:
			g.Value = version
		case admission.SameLife:
			g.Value = life
		}
		q.Guards = append(q.Guards, g)
	}
	if op.Refers != "" {
		q.Edges = []graph.Edge{{From: op.Self, To: op.Refers, Kind: graph.References}}
	}
	if c.planned(i) {
		q.Plan, q.Call = planID(op.Session), callID(i)
		p, _ := n.state.Tx(q.Plan)
		for _, k := range p.Calls {
			if k.ID == q.Call {
				q.Guards = k.Guards
			}
		}
	}
	return q
}

func effectsOf(op *Op) escrow.Effects {
	var list []escrow.Effect
	for b, e := range op.Effects {
		if e != 0 {
			list = append(list, escrow.Effect{Bucket: bucketKey(b), Amount: int64(e)})
		}
	}
	return escrow.Collect(list...)
}

// reservation is the plan of a session, made on what is known now.
func (n *node) reservation(c *Config, s int) admission.Request {
	x := c.Sessions[s]
	q := admission.Request{
		Session: sessionIDs[s], Key: 99, Action: admission.Reserve, Type: resourceType, Whole: x.Whole, Advisory: x.Watch,
	}
	var nodes []graph.NodeID
	for i := range c.Ops {
		op := &c.Ops[i]
		if op.Session != s || op.Extra {
			continue
		}
		p := admission.Planned{ID: callID(i), Self: op.Self, Action: op.Action, Locks: op.plan(), Effects: effectsOf(op)}
		for _, g := range op.guards {
			if g.Kind == admission.SameLife {
				g.Value = n.lifeOf(g.Node)
			}
			p.Guards = append(p.Guards, g)
		}
		for _, a := range op.After {
			if !c.Ops[a].Extra {
				p.After = append(p.After, callID(a))
			}
		}
		if op.Group != 0 {
			p.Group = fmt.Sprint(op.Group)
		}
		q.Calls = append(q.Calls, p)
		nodes = append(nodes, op.named()...)
	}
	q.Nodes = placed(nodes...)
	return q
}

func (n *node) lifeOf(id graph.NodeID) uint64 {
	x := n.state.Graph().Peek(id)
	if x == nil {
		return 0
	}
	return x.Incarnation
}

var verbNames = [...]string{
	"nothing", "submit", "submit again", "reserve", "start", "complete", "withdraw", "resolve", "settle", "pass", "declare", "close",
	"expire", "died", "give up", "pause", "lead", "look", "see", "meter", "limit",
}

// String names the command and its subject.
func (x command) String() string { return fmt.Sprintf("%s %d", verbNames[x.verb], x.who) }
