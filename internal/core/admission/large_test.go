// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"pgregory.net/rapid"
)

// TestLargeGraphs runs random histories of sessions, plans, lost answers, reads
// and restarts on graphs of up to 10^4 nodes, beside a cloud in which the calls
// really happen. What the machine admits is judged by what operations touch and
// what is there: I2, I4, I5, I11, I14, I18, I21, I23, I24 and, at the end of each
// history, I12.
func TestLargeGraphs(t *testing.T) {
	t.Parallel()
	bases := []*State{forest(t, 1), forest(t, 10), forest(t, 100)}
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 2).Draw(t, "size")
		l := newAccount(t, bases[size], []int{1, 10, 100}[size])
		moves := map[string]func(*rapid.T){
			"open":     l.open,
			"end":      l.end,
			"write":    l.write,
			"plan":     l.reserve,
			"call":     l.call,
			"call 2":   l.call,
			"start":    l.start,
			"start 2":  l.start,
			"answer":   l.answer,
			"answer 2": l.answer,
			"withdraw": l.withdraw,
			"settle":   l.settle,
			"observe":  l.observe,
			"measure":  l.measure,
			"restart":  l.restart,
			"":         l.check,
		}
		for range 4 { // rapid alone would stop after some thirty
			t.Repeat(moves)
		}
		l.finish(t)
	})
}

// forest is a state that has seen groups of 25 objects with three parts each.
func forest(t *testing.T, groups int) *State {
	m := newMachine(t, "reader")
	c := Observe{Stamp: m.tick(), Session: "reader", Nodes: place("r")}
	for g := range groups {
		c.Nodes = append(c.Nodes, graph.Decl{ID: graph.NodeID(fmt.Sprintf("r/g%d", g)), Parent: "r", Kind: graph.Resource, Type: "sim_thing"})
		for v := range 25 {
			id := graph.NodeID(fmt.Sprintf("r/g%d/v%d", g, v))
			c.Nodes = append(c.Nodes, graph.Decl{ID: id, Parent: graph.NodeID(fmt.Sprintf("r/g%d", g)), Kind: graph.Resource, Type: "sim_thing"})
			for s := range 3 {
				leaf := graph.Decl{ID: id + graph.NodeID(fmt.Sprintf("/s%d", s)), Parent: id, Kind: graph.Resource, Type: "sim_thing"}
				c.Objects = append(c.Objects, Observation{Decl: leaf, Exists: s == 0})
			}
		}
	}
	m.must(c)
	return m.State
}

// account is a history on a large graph, told by what happens in the cloud.
type account struct {
	state, replica *State
	cloud          cloud
	groups         int
	sessions       []SessionID
	dead           map[SessionID]bool // its processes
	ops            map[TxID]*operation
	plans          []*design
	count          int
}

func newAccount(t *rapid.T, base *State, groups int) *account {
	l := &account{
		state: base.Clone(), replica: base.Clone(), groups: groups, dead: map[SessionID]bool{}, ops: map[TxID]*operation{},
		cloud: cloud{exists: map[string]bool{}, limit: map[escrow.Key]int64{}},
	}
	for n := range base.Graph().Nodes() {
		if n.Lifecycle == graph.Operational {
			l.cloud.exists[string(n.ID)] = true
		}
	}
	l.open(t)
	l.open(t)
	return l
}

func (l *account) at() Stamp { return Stamp{Now: l.state.Now() + 1} }

// apply takes the decisions over into the account, and into the replica.
func (l *account) apply(t *rapid.T, c Command) error {
	events, err := l.state.Apply(c)
	if err != nil || len(events) == 0 {
		return err
	}
	for _, e := range events {
		l.note(e)
	}
	data, err := EncodeRecord(Record{Index: l.state.Index(), Now: l.state.Now(), Command: c, Events: events})
	var r Record
	if err == nil {
		r, err = DecodeRecord(data)
	}
	if err == nil {
		err = l.replica.Fold(r.Index, r.Now, r.Events)
	}
	if err != nil {
		t.Fatal(err)
	}
	return nil
}

// note follows what the machine decided: who is out, and which calls of a plan
// belong together.
func (l *account) note(e Event) {
	switch e := e.(type) {
	case TxRejected:
		l.gone(e.Tx)
	case TxEnded:
		l.gone(e.Tx)
	case ClaimAdmitted:
		for _, p := range l.plans {
			for _, o := range p.calls {
				if p.id == e.Claim.Plan && slices.Contains(e.Claim.Calls, o.call) {
					p.claim[o] = true
				}
			}
		}
	case ClaimEnded:
		for _, p := range l.plans {
			clear(p.claim) // plans here have one claim at a time, or overlap in none
		}
		for _, c := range l.state.Claims() {
			l.note(ClaimAdmitted{Claim: c})
		}
	}
}

// gone is an operation that will do nothing any more.
func (l *account) gone(id TxID) {
	for _, p := range l.plans {
		if p.id == id {
			p.over = true
			for _, o := range p.calls {
				o.die()
			}
		}
	}
	if o := l.ops[id]; o != nil {
		if !o.sent {
			o.die()
		}
		o.over = true
	}
}

func (l *account) open(t *rapid.T) {
	id := SessionID(fmt.Sprintf("s%d", len(l.sessions)))
	c := openCommand(l.at(), id)
	c.Session.Policy = rapid.SampledFrom([]Policy{Queue, Queue, Queue, Reject}).Draw(t, "policy")
	l.sessions = append(l.sessions, id)
	_ = l.apply(t, c)
}

// end ends a session in one of three ways: it leaves, its lease runs out, or its
// processes are found dead.
func (l *account) end(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "seldom") > 0 {
		return
	}
	id := rapid.SampledFrom(l.sessions).Draw(t, "session")
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 0:
		_ = l.apply(t, CloseSession{Stamp: l.at(), Session: id})
	case 1:
		l.dead[id] = true
		_ = l.apply(t, Deceased{Stamp: l.at(), Session: id})
	case 2:
		_ = l.apply(t, Renew{Stamp: l.at(), Session: id})
		_ = l.apply(t, Expire{Stamp: l.at()})
	}
}

// leaf is mostly one of a few objects, so that something happens there.
func (l *account) leaf(t *rapid.T) string {
	g, v := 0, rapid.IntRange(0, 1).Draw(t, "v")
	if rapid.IntRange(0, 4).Draw(t, "far") == 0 {
		g, v = rapid.IntRange(0, l.groups-1).Draw(t, "g"), rapid.IntRange(0, 24).Draw(t, "v")
	}
	return fmt.Sprintf("r/g%d/v%d/s%d", g, v, rapid.IntRange(0, 2).Draw(t, "s"))
}

func (l *account) operation(t *rapid.T, id SessionID) *operation {
	o := &operation{session: id, self: l.leaf(t), effects: map[escrow.Key]int64{}}
	o.action = rapid.SampledFrom([]Action{Create, Create, Delete, Update, Read}).Draw(t, "action")
	if o.action == Update || o.action == Read {
		for range rapid.IntRange(0, 2).Draw(t, "up") {
			o.self = up(o.self)
		}
	}
	if n, _ := l.state.Graph().Get(graph.NodeID(o.self)); o.action == Delete {
		o.life = n.Incarnation
	}
	o.touches = []touch{{o.self, o.action != Read}}
	if rapid.Bool().Draw(t, "refers") {
		o.touches = append(o.touches, touch{up(l.leaf(t)), false})
	}
	change := map[Action]int64{Create: 1, Delete: -1}[o.action]
	for _, k := range bucketsOf(o.self) {
		if change != 0 {
			o.effects[k] = change
		}
	}
	return o
}

func (o *operation) effectList() escrow.Effects {
	var list []escrow.Effect
	for k, n := range o.effects {
		list = append(list, escrow.Effect{Bucket: k, Amount: n})
	}
	return escrow.Collect(list...)
}

// guards: what is deleted is what was there when that was planned.
func (o *operation) guards() []Guard {
	if o.action != Delete {
		return nil
	}
	return []Guard{{Kind: SameLife, Node: graph.NodeID(o.self), Value: o.life}}
}

func (o *operation) nodes() []graph.Decl {
	var list []graph.Decl
	for _, t := range o.touches {
		list = append(list, place(graph.NodeID(t.path))...)
	}
	return list
}

func (l *account) request(o *operation) Request {
	return Request{
		Session: o.session, Action: o.action, Self: graph.NodeID(o.self), Address: o.self, Type: "sim_thing",
		Nodes: o.nodes(), Locks: planOfTouches(o.touches), Guards: o.guards(), Effects: o.effectList(), Lands: 5, Timeout: 50,
	}
}

func (l *account) name() TxID {
	l.count++
	return TxID(fmt.Sprintf("t%d", l.count))
}

func (l *account) submit(t *rapid.T, o *operation, q Request) {
	o.id = l.name()
	l.ops[o.id] = o
	if err := l.apply(t, Submit{Stamp: l.at(), ID: o.id, Request: q}); err != nil {
		delete(l.ops, o.id)
		o.id = ""
	}
}

func (l *account) write(t *rapid.T) {
	o := l.operation(t, rapid.SampledFrom(l.sessions).Draw(t, "session"))
	l.submit(t, o, l.request(o))
}

// reserve plans a replace or two and something beside them.
func (l *account) reserve(t *rapid.T) {
	d := &design{id: l.name(), claim: map[*operation]bool{}}
	session := rapid.SampledFrom(l.sessions).Draw(t, "session")
	add := func(o *operation) *operation {
		o.session, o.plan, o.call = session, d, CallID(fmt.Sprintf("c%d", len(d.calls)))
		for _, before := range d.calls {
			if rapid.IntRange(0, 3).Draw(t, "after") == 0 {
				o.after = append(o.after, before)
			}
		}
		d.calls = append(d.calls, o)
		return o
	}
	for range rapid.IntRange(0, 2).Draw(t, "replaces") {
		path := l.leaf(t)
		old, fresh := &operation{action: Delete, self: path}, &operation{action: Create, self: path}
		for _, o := range []*operation{old, fresh} {
			n, _ := l.state.Graph().Get(graph.NodeID(path))
			o.life, o.touches, o.effects = n.Incarnation, []touch{{path, true}}, map[escrow.Key]int64{}
			for _, k := range bucketsOf(path) {
				o.effects[k] = map[Action]int64{Create: 1, Delete: -1}[o.action]
			}
			add(o)
			old.group, fresh.group = []*operation{old, fresh}, []*operation{old, fresh}
		}
		if !slices.Contains(fresh.after, old) {
			fresh.after = append(fresh.after, old)
		}
	}
	for range rapid.IntRange(0, 1).Draw(t, "others") {
		add(l.operation(t, session))
	}
	q := Request{Session: session, Action: Reserve, Nodes: place("r"), Whole: rapid.IntRange(0, 5).Draw(t, "whole") == 0}
	for _, o := range d.calls {
		c := Planned{ID: o.call, Self: graph.NodeID(o.self), Action: o.action, Locks: planOfTouches(o.touches), Guards: o.guards(), Effects: o.effectList()}
		for _, a := range o.after {
			c.After = append(c.After, a.call)
		}
		slices.Sort(c.After)
		if o.group != nil {
			c.Group = "replace " + string(d.calls[slices.Index(d.calls, o.group[0])].call)
		}
		q.Calls, q.Nodes = append(q.Calls, c), append(q.Nodes, o.nodes()...)
	}
	l.plans = append(l.plans, d)
	if err := l.apply(t, Submit{Stamp: l.at(), ID: d.id, Request: q}); err != nil {
		l.plans = l.plans[:len(l.plans)-1]
	}
}

// call sends the next call of a plan, when what it comes after has succeeded.
func (l *account) call(t *rapid.T) {
	var ready []*operation
	for _, p := range l.plans {
		for _, o := range p.calls {
			waits := slices.ContainsFunc(o.after, func(b *operation) bool {
				return !b.over || b.dead || !b.landed && b.action != Read && b.action != Update
			})
			if tx, _ := l.state.Tx(p.id); o.id == "" && !o.dead && !waits && tx.Status == Admitted {
				ready = append(ready, o)
			}
		}
	}
	if len(ready) == 0 {
		return
	}
	o := rapid.SampledFrom(ready).Draw(t, "call")
	l.submit(t, o, planned(l.request(o), o.plan.id, o.call))
}

// in lists the operations of some states, by name.
func (l *account) in(states ...Status) []*operation {
	var list []*operation
	for i := range l.count + 1 {
		o := l.ops[TxID(fmt.Sprintf("t%d", i))]
		if o == nil {
			continue
		}
		if tx, _ := l.state.Tx(o.id); slices.Contains(states, tx.Status) {
			list = append(list, o)
		}
	}
	return list
}

func (l *account) any(t *rapid.T, states ...Status) (*operation, Tx) {
	list := l.in(states...)
	if len(list) == 0 {
		return nil, Tx{}
	}
	o := rapid.SampledFrom(list).Draw(t, "operation")
	tx, _ := l.state.Tx(o.id)
	return o, tx
}

func (l *account) start(t *rapid.T) {
	if o, tx := l.any(t, Admitted); o != nil {
		l.begin(t, o, tx)
	}
}

func (l *account) begin(t *rapid.T, o *operation, tx Tx) {
	if l.apply(t, Start{Stamp: l.at(), Tx: tx.ID, Token: tx.Token}) == nil {
		if o.sent = true; rapid.Bool().Draw(t, "at once") {
			l.cloud.land(o)
		}
	}
}

func (l *account) answer(t *rapid.T) {
	o, tx := l.any(t, Actioning)
	if o == nil {
		return
	}
	result := rapid.SampledFrom([]Result{Succeeded, Succeeded, Succeeded, Errored, Lost}).Draw(t, "result")
	l.reply(t, o, tx, result)
}

func (l *account) reply(t *rapid.T, o *operation, tx Tx, result Result) {
	if result == Succeeded && o.action == Update && !l.cloud.there(o.self) {
		result = Errored
	}
	if result == Succeeded {
		l.cloud.land(o)
	}
	there := l.cloud.there(o.self)
	if result != Succeeded {
		o.fall() // its run sends nothing that needs it
	}
	if err := l.apply(t, Complete{Stamp: l.at(), Tx: tx.ID, Token: tx.Token, Result: result, Exists: there}); err != nil {
		t.Fatalf("%s: %v", tx.ID, err)
	}
}

func (l *account) withdraw(t *rapid.T) {
	if o, _ := l.any(t, Queued, Admitted); o != nil {
		_ = l.apply(t, Withdraw{Stamp: l.at(), Tx: o.id})
	} else if len(l.plans) > 0 {
		_ = l.apply(t, Withdraw{Stamp: l.at(), Tx: rapid.SampledFrom(l.plans).Draw(t, "plan").id})
	}
}

// settle reads the object of a call whose outcome is not known. The read may
// come too early to prove anything; a call that it settles never lands after.
func (l *account) settle(t *rapid.T) {
	o, tx := l.any(t, Uncertain)
	if o == nil {
		return
	}
	if rapid.Bool().Draw(t, "dead") {
		l.dead[o.session] = true
		_ = l.apply(t, Deceased{Stamp: l.at(), Session: o.session})
	}
	reader := rapid.SampledFrom(l.sessions).Draw(t, "reader")
	at := Stamp{Now: l.state.Now() + int64(rapid.IntRange(1, 60).Draw(t, "pause"))}
	there := l.cloud.there(o.self)
	err := l.apply(t, Settle{
		Stamp: at, Session: reader, Tx: o.id, Began: l.state.Index(), BeganAt: at.Now,
		Exists: there, Terminal: true,
	})
	if err != nil {
		return
	}
	late := at.Now < tx.StartedAt+50 && (!l.dead[o.session] || at.Now < tx.StartedAt+5)
	if late && !o.landed && o.sent {
		l.cloud.land(o) // what was still on its way arrives behind the answer
		if there != l.cloud.there(o.self) {
			t.Fatalf("%s was settled by a read, and landed behind it (I25)", o.id)
		}
	}
}

// observe reads an object as it is; a read that is late must not be believed.
func (l *account) observe(t *rapid.T) {
	path := l.leaf(t)
	began := l.state.Index() - uint64(rapid.IntRange(0, 3).Draw(t, "late"))
	node, _ := l.state.Graph().Get(graph.NodeID(path))
	there := l.cloud.there(path)
	if node.ChangedIndex > began {
		there = !there // it was otherwise then
	}
	decls := place(graph.NodeID(path))
	_ = l.apply(t, Observe{
		Stamp: l.at(), Session: rapid.SampledFrom(l.sessions).Draw(t, "reader"), Began: began,
		Nodes: decls[:len(decls)-1], Objects: []Observation{{Decl: decls[len(decls)-1], Exists: there}},
	})
	after, _ := l.state.Graph().Get(graph.NodeID(path))
	if node.ChangedIndex > began && after.Lifecycle != node.Lifecycle {
		t.Fatalf("%s: a read that began before its last change was believed (I24)", path)
	}
}

func (l *account) measure(t *rapid.T) {
	k := rapid.SampledFrom(bucketsOf(l.leaf(t))).Draw(t, "bucket")
	use := l.cloud.use(k)
	limit := use + int64(rapid.IntRange(-1, 3).Draw(t, "room"))
	if old, ok := l.cloud.limit[k]; ok && rapid.IntRange(0, 3).Draw(t, "lasting") > 0 {
		limit = old
	}
	limit = max(0, limit)
	c := Measure{
		Stamp: l.at(), Session: rapid.SampledFrom(l.sessions).Draw(t, "reader"), Began: l.state.Index(),
		Readings: []Reading{{Bucket: k, Limit: escrow.At(limit), Use: escrow.At(use)}},
	}
	before := l.state.Index()
	if l.apply(t, c) == nil && l.state.Index() != before {
		l.cloud.limit[k] = limit
	}
}

// restart goes on with a machine reread from a snapshot of the replica.
func (l *account) restart(t *rapid.T) {
	if rapid.IntRange(0, 5).Draw(t, "seldom") > 0 {
		return
	}
	back, err := reread(l.replica)
	if err != nil || back.Hash() != l.state.Hash() || l.replica.Hash() != l.state.Hash() {
		t.Fatalf("a restart changes the state (I14): %v", err)
	}
	l.state, l.replica = back, back.Clone()
}

// check judges what is under way.
func (l *account) check(t *rapid.T) {
	flight := l.in(Admitted, Actioning, Uncertain)
	for i, a := range flight {
		for _, b := range flight[i+1:] {
			if disturb(a.touches, b.touches) {
				t.Fatalf("%s and %s are under way together (I2): %v, %v", a.id, b.id, a.touches, b.touches)
			}
		}
		l.checkClaimed(t, a)
	}
	for _, o := range flight {
		if tx, _ := l.state.Tx(o.id); o.sent && !tx.Status.Holds() {
			t.Fatalf("%s runs and holds nothing (I8)", o.id)
		}
	}
	l.checkWaiters(t, flight)
	l.checkCloud(t)
}

// checkClaimed: nobody else touches what belongs together in another run (I21).
func (l *account) checkClaimed(t *rapid.T, a *operation) {
	for _, p := range l.plans {
		for o := range p.claim {
			if o.session != a.session && disturb(a.touches, o.touches) {
				t.Fatalf("%s is under way between the calls of a claim of %s (I21)", a.id, p.id)
			}
		}
	}
}

// checkWaiters: who waits by itself has a reason, and is passed by nobody that
// it stands in the way of (I11).
func (l *account) checkWaiters(t *rapid.T, flight []*operation) {
	queue := l.in(Queued)
	for _, w := range queue {
		tx, _ := l.state.Tx(w.id)
		if w.plan != nil {
			continue
		}
		for _, o := range flight {
			if mine, _ := l.state.Tx(o.id); o.plan == nil && mine.Ticket > tx.Ticket && disturb(w.touches, o.touches) {
				t.Fatalf("%s passed %s, which waits before it (I11)", o.id, w.id)
			}
		}
		if !l.reason(w, tx, flight, queue) {
			t.Fatalf("%s waits for nothing (I13): %v%s", w.id, l.state.Blockers(w.id), l.story())
		}
	}
}

// reason says whether something keeps a waiter back: what is under way, what is
// claimed, who came before, or that there is no room.
func (l *account) reason(w *operation, tx Tx, flight, queue []*operation) bool {
	blocks := func(o *operation) bool { return o != w && disturb(w.touches, o.touches) }
	if slices.ContainsFunc(flight, blocks) {
		return true
	}
	for _, p := range l.plans {
		for o := range p.claim {
			if o.session != w.session && blocks(o) {
				return true
			}
		}
	}
	for k, n := range w.effects {
		if level := l.state.escrow.Level(k); n > 0 && level.Limit.Set && level.High+level.Plus+n > level.Limit.Value {
			return true
		}
	}
	rivals := func(o *operation) bool { return blocks(o) || contend(w, o) }
	for _, o := range queue {
		other, _ := l.state.Tx(o.id)
		if comparePlaces(&other, &tx) < 0 && (rivals(o) || o.plan != nil && slices.ContainsFunc(o.plan.calls, rivals)) {
			return true
		}
	}
	for _, p := range l.plans { // reservations in the queue
		plan, _ := l.state.Tx(p.id)
		if plan.Status == Queued && plan.Ticket < tx.Ticket && slices.ContainsFunc(p.calls, rivals) {
			return true
		}
	}
	return false
}

// checkCloud: what is there and what may still come never exceeds a limit (I5,
// I18, I23), but where the limit was lowered below that.
func (l *account) checkCloud(t *rapid.T) {
	for k, limit := range l.cloud.limit {
		level := l.state.escrow.Level(k)
		use := l.cloud.use(k)
		for _, o := range l.in(Admitted, Actioning, Uncertain) {
			if o.plan == nil {
				use += more([]*operation{o}, k)
			}
		}
		for _, p := range l.plans {
			tx, _ := l.state.Tx(p.id)
			if left := p.calls; tx.Status == Admitted {
				use += more(left, k)
			} else if tx.Status != Queued {
				left = slices.DeleteFunc(slices.Clone(left), func(o *operation) bool { return !o.sent })
				use += more(left, k)
			}
		}
		if use > limit && level.High+level.Plus <= limit {
			t.Fatalf("%s: %d of %d may be in use, and the machine counts %+v (I5): %s", k, use, limit, level, l.story())
		}
	}
}

// finish lets everything end, and sees the queue empty (I12).
func (l *account) finish(t *rapid.T) {
	for range 10 * (l.count + 1) {
		for _, o := range l.in(Uncertain) {
			there := l.cloud.there(o.self)
			if err := l.apply(t, Resolve{Stamp: l.at(), Tx: o.id, Actor: "x", Reason: "y", Exists: there}); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range l.in(Actioning) {
			tx, _ := l.state.Tx(o.id)
			l.reply(t, o, tx, Succeeded)
		}
		for _, o := range l.in(Admitted) {
			tx, _ := l.state.Tx(o.id)
			if l.apply(t, Start{Stamp: l.at(), Tx: tx.ID, Token: tx.Token}) != nil {
				t.Fatalf("%s is admitted and cannot start", tx.ID)
			}
			o.sent = true
		}
		for _, p := range l.plans {
			if tx, _ := l.state.Tx(p.id); tx.Status == Admitted && len(l.in(Admitted, Actioning, Uncertain)) == 0 {
				_ = l.apply(t, Withdraw{Stamp: l.at(), Tx: p.id})
			}
		}
		l.check(t)
		if len(l.state.Waiting()) == 0 && len(l.in(Admitted, Actioning, Uncertain)) == 0 {
			break
		}
	}
	if left := l.state.Waiting(); len(left) > 0 {
		t.Fatalf("%v wait though everything has ended (I12): %v", left, l.state.Blockers(left[0]))
	}
	for _, n := range l.state.locks.Nodes() {
		for _, h := range l.state.locks.Holders(n) {
			if tx, _ := l.state.Tx(TxID(h.Owner)); tx.Status.Final() {
				t.Fatalf("%s is held by %s, which is over", n, h.Owner)
			}
		}
	}
}

// story tells who is where, for failures.
func (l *account) story() string {
	var b strings.Builder
	for i := range l.count + 1 {
		if o := l.ops[TxID(fmt.Sprintf("t%d", i))]; o != nil {
			tx, _ := l.state.Tx(o.id)
			fmt.Fprintf(&b, "\n%s of %s: %s %s is %s, sent %t, landed %t", o.id, o.session, o.action, o.self, tx.Status, o.sent, o.landed)
		}
	}
	for _, p := range l.plans {
		tx, _ := l.state.Tx(p.id)
		fmt.Fprintf(&b, "\nplan %s is %s", p.id, tx.Status)
		for _, o := range p.calls {
			fmt.Fprintf(&b, ", %s %s %s as %q dead %t", o.call, o.action, o.self, o.id, o.dead)
		}
	}
	return b.String()
}
