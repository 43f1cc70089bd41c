// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// lease is longer than any play: its renewal is none of the questions asked here.
const lease = int64(365 * 24 * time.Hour)

// mostRounds is how often a call is lowered anew because the graph moved.
const mostRounds = 12

// coordinated plays under the real state machine, with the commands that the
// wrapper makes the coordinator give it.
type coordinated struct {
	*player
	rules *Rules
	state *admission.State
	meter meter

	calls  map[admission.TxID]*petition
	plans  map[admission.TxID]*plan
	ofRun  map[*run]*plan
	of     map[*call]*petition
	serial int
	// news are decisions that were not looked at yet.
	news    []admission.Event
	reading bool

	admissions, rejections int
	backoff                Backoff
	chance                 *rand.Rand
}

// petition is a call on its way through the coordinator.
type petition struct {
	call   *call
	tx     admission.TxID
	token  uint64
	rounds int
}

// plan is what a run has asked for as a whole.
type plan struct {
	run *run
	// tx is the reservation, empty for a run that needs none.
	tx    admission.TxID
	calls map[string]admission.CallID
}

func newCoordinated(p *player, rules *Rules) *coordinated {
	return &coordinated{
		player: p, rules: rules, state: admission.New(), meter: newMeter(),
		calls: map[admission.TxID]*petition{}, plans: map[admission.TxID]*plan{},
		ofRun: map[*run]*plan{}, of: map[*call]*petition{},
	}
}

func (c *coordinated) stamp() admission.Stamp {
	return admission.Stamp{Now: max(c.state.Now()+1, c.clock.Now().UnixNano())}
}

func sessionID(r *run) admission.SessionID {
	return admission.SessionID(fmt.Sprintf("s%04d", r.number))
}

func (c *coordinated) nextTx() admission.TxID {
	c.serial++
	return admission.TxID(fmt.Sprintf("t%d", c.serial))
}

// apply gives the machine a command, and acts on what it decided.
func (c *coordinated) apply(command admission.Command) bool {
	stop := c.meter.start()
	events, err := c.state.Apply(command)
	stop()
	if err != nil {
		c.fail(fmt.Errorf("%T: %w", command, err))
		return false
	}
	c.news = append(c.news, events...)
	if c.reading {
		return true
	}
	c.reading = true
	for len(c.news) > 0 && c.err == nil {
		e := c.news[0]
		c.news = c.news[1:]
		c.read(e)
	}
	c.reading = false
	return true
}

// read acts on one decision.
func (c *coordinated) read(e admission.Event) {
	switch e := e.(type) {
	case admission.TxSubmitted:
		if p, ok := c.calls[e.Tx.ID]; ok {
			p.call.ticket, p.call.rank = e.Tx.Ticket, cmp.Or(e.Tx.Rank, e.Tx.Ticket)
		}
	case admission.TxAdmitted:
		c.admitted(e)
	case admission.TxRejected:
		c.rejected(e.Tx)
	case admission.TxStaled:
		c.submit(c.calls[e.Tx])
	}
}

func (c *coordinated) admitted(e admission.TxAdmitted) {
	if plan, ok := c.plans[e.Tx]; ok {
		c.begin(plan.run)
		return
	}
	p := c.calls[e.Tx]
	p.token = e.Token
	p.call.served = e.Token
	c.admissions++
	c.send(p.call)
}

func (c *coordinated) rejected(id admission.TxID) {
	c.rejections++
	if plan, ok := c.plans[id]; ok {
		plan.tx = ""
		c.refuse(plan.run)
		return
	}
	c.drop(c.calls[id].call)
}

// arrive opens the session, tells the others what it will make, and asks for
// what the plan needs together.
func (c *coordinated) arrive(r *run) {
	id := sessionID(r)
	s := admission.Session{ID: id, Actor: groupName(r.number), Tool: "scaling", Origin: groupName(r.number), Policy: admission.Queue, Lease: lease}
	if !c.apply(admission.OpenSession{Stamp: c.stamp(), Session: s, Intent: admission.Intent{ID: admission.IntentID(id), Session: id, Objective: "build " + groupName(r.number)}}) {
		return
	}
	lowered := make([]ruleengine.Lowered, len(r.calls))
	for i, call := range r.calls {
		var err error
		if lowered[i], err = c.rules.lower(call.Operation, id, c.state.Graph()); err != nil {
			c.fail(err)
			return
		}
	}
	d := newDraft(id, r, lowered)
	if !c.apply(d.declaration(c.stamp())) || !c.measure(id, d.buckets) {
		return
	}
	plan := &plan{run: r, calls: d.ids}
	c.ofRun[r] = plan
	if !d.needed {
		c.begin(r)
		return
	}
	plan.tx = c.nextTx()
	c.plans[plan.tx] = plan
	c.apply(admission.Submit{Stamp: c.stamp(), ID: plan.tx, Request: d.reservation()})
}

// measure reads what is not known of the buckets of objects that are there.
func (c *coordinated) measure(id admission.SessionID, buckets []ruleengine.Bucket) bool {
	for _, b := range buckets {
		if c.state.BucketRead(b.Key) != 0 || b.Owner.Type != "simcloud_quota" {
			continue
		}
		_, path, _ := cutRealm(b.Owner.ID)
		res, refusal := c.cloud.Read(simcloud.Call{Method: "GET", Path: path})
		if refusal != nil {
			continue // there is no such quota
		}
		seen, err := c.rules.see(res)
		if err != nil {
			c.fail(err)
			return false
		}
		if !c.apply(admission.Measure{Stamp: c.stamp(), Session: id, Began: c.state.Index(), Readings: seen.Readings}) {
			return false
		}
	}
	return true
}

func (c *coordinated) ready(call *call) {
	p := &petition{call: call, tx: c.nextTx()}
	c.calls[p.tx], c.of[call] = p, p
	c.submit(p)
}

// submit lowers a call on the graph as it is, and asks for its admission.
func (c *coordinated) submit(p *petition) {
	if p.rounds++; p.rounds > mostRounds {
		c.fail(fmt.Errorf("%s: the graph never rests", p.call.Address))
		return
	}
	r := p.call.run
	lowered, err := c.rules.lower(p.call.Operation, sessionID(r), c.state.Graph())
	if err != nil {
		c.fail(err)
		return
	}
	request := lowered.Request
	request.Session = sessionID(r)
	if plan := c.ofRun[r]; plan.tx != "" {
		request.Plan, request.Call = plan.tx, plan.calls[p.call.Address]
	}
	c.apply(admission.Submit{Stamp: c.stamp(), ID: p.tx, Request: request})
}

func (c *coordinated) starting(call *call) {
	p := c.of[call]
	c.apply(admission.Start{Stamp: c.stamp(), Tx: p.tx, Token: p.token})
}

// refused tries again as the provider would, although it should never come to it.
func (c *coordinated) refused(call *call, e *arm.Error) (time.Duration, bool) {
	if !busy(e) {
		return 0, false
	}
	return c.backoff.after(call.tries, c.chance)
}

func (c *coordinated) ended(call *call, ok bool) {
	p := c.of[call]
	result := admission.Succeeded
	if !ok {
		result = admission.Errored
	}
	c.apply(admission.Complete{Stamp: c.stamp(), Tx: p.tx, Token: p.token, Result: result, Exists: ok})
}

func (c *coordinated) finished(r *run) {
	if plan := c.ofRun[r]; plan.tx != "" {
		c.apply(admission.Withdraw{Stamp: c.stamp(), Tx: plan.tx, Cause: "done"})
	}
	c.apply(admission.CloseSession{Stamp: c.stamp(), Session: sessionID(r)})
}

// draft is what a plan asks for as a whole.
type draft struct {
	session admission.SessionID
	nodes   []graph.Decl
	selves  []graph.NodeID
	calls   []admission.Planned
	ids     map[string]admission.CallID
	buckets []ruleengine.Bucket
	// needed says whether the plan takes capacity.
	needed bool
}

func newDraft(id admission.SessionID, r *run, lowered []ruleengine.Lowered) *draft {
	d := &draft{session: id, ids: map[string]admission.CallID{}}
	placed := map[graph.NodeID]bool{}
	for i, l := range lowered {
		q, address := l.Request, r.calls[i].Address
		for _, n := range q.Nodes {
			if !placed[n.ID] {
				placed[n.ID] = true
				d.nodes = append(d.nodes, n)
			}
		}
		call := admission.CallID("create " + address)
		d.ids[address] = call
		d.selves = append(d.selves, q.Self)
		d.buckets = append(d.buckets, l.Buckets...)
		d.calls = append(d.calls, admission.Planned{
			ID: call, Self: q.Self, Action: q.Action, Address: address, Locks: q.Locks, Guards: q.Guards, Effects: slices.Clone(q.Effects),
		})
		d.needed = d.needed || len(q.Effects) > 0
	}
	slices.SortFunc(d.calls, func(a, b admission.Planned) int { return cmp.Compare(a.ID, b.ID) })
	return d
}

func (d *draft) declaration(stamp admission.Stamp) admission.Declare {
	return admission.Declare{Stamp: stamp, Session: d.session, Creates: d.nodes, Selves: d.selves}
}

func (d *draft) reservation() admission.Request {
	return admission.Request{Session: d.session, Action: admission.Reserve, Nodes: d.nodes, Calls: d.calls}
}
