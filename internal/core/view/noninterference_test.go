// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"pgregory.net/rapid"
)

// TestNoninterference runs the same visible history twice, among hidden
// sessions that differ in number, names, purposes, objects and order. As long as
// the decisions about visible calls, and the capacity that is left, are alike,
// everything that is shown is the same to the byte.
func TestNoninterference(t *testing.T) {
	t.Parallel()
	var compared, delayed, refused, unnoticed int
	check := func(t *rapid.T) {
		policy := rapid.SampledFrom([]admission.Policy{admission.Queue, admission.Queue, admission.Reject}).Draw(t, "policy")
		a := &history{world: newWorld(t, "r/xq-alpha", policy), names: []string{"xq-ann", "xq-zoe", "xq-kim"}}
		b := &history{world: newWorld(t, "r/xq-zulu", policy), names: []string{"xq-bob", "xq-abe", "xq-max", "xq-sue"}}
		for _, h := range []*history{a, b} {
			for _, n := range h.names {
				h.open(n, admission.Queue)
			}
		}
		for i := range rapid.IntRange(2, 20).Draw(t, "rounds") {
			a.now, b.now = int64(i+1)*1e9, int64(i+1)*1e9
			press := drawPressure(t)
			a.press(t, "A", press)
			b.press(t, "B", press)
			a.hide(t, "A")
			b.hide(t, "B")
			step := drawStep(t)
			a.step(step)
			b.step(step)
			if x, y := a.interference(), b.interference(); x != y {
				return // the hidden sessions interfered differently
			}
			x, y := a.render(), b.render()
			if a.prospects != b.prospects {
				return // or would, with what the session thinks of
			}
			if x != y {
				t.Fatalf("the session can tell the two apart, after\n%s\n%s", a.interference(), cmp.Diff(strings.Split(x, "\n"), strings.Split(y, "\n")))
			}
			if strings.Contains(strings.ReplaceAll(x, `"xq-alpha-1"`, ""), "xq-") {
				t.Fatalf("something hidden is named:\n%s", x)
			}
			compared++
			d, r := a.blockedByHidden()
			delayed, refused = delayed+d, refused+r
		}
		unnoticed += a.checked + b.checked
	}
	for range 3 { // many pairs go apart early
		rapid.Check(t, check)
	}
	t.Logf("%d pairs compared, in which hidden sessions delayed %d calls and refused %d; %d transitions unnoticed", compared, delayed, refused, unnoticed)
	if compared < 100 || delayed < 10 || refused < 1 || unnoticed < 100 {
		t.Error("the histories are too tame to show anything")
	}
}

// history is a world with hidden sessions in it.
type history struct {
	*world
	names  []string
	serial int
	errs   []string // of the visible steps
	// prospects is how the calls would be decided that the session thinks of.
	prospects string
	// common is how many calls hidden sessions made on visible objects.
	common int
}

// pressure is hidden interference that both worlds get, by other sessions, on
// other objects, and by another number of them.
type pressure struct {
	kind string
	on   bool // begin it, or end it
}

func drawPressure(t *rapid.T) pressure {
	return pressure{
		kind: rapid.SampledFrom([]string{"", "", "group", "slot", "life", "capacity", "reference", "inside", "promise"}).Draw(t, "pressure"),
		on:   rapid.IntRange(0, 2).Draw(t, "on") > 0,
	}
}

func (h *history) press(t *rapid.T, label string, p pressure) {
	if p.kind == "" {
		return
	}
	prefix := admission.TxID("press-" + p.kind)
	if !p.on {
		for _, tx := range h.state.Transactions() {
			if strings.HasPrefix(string(tx.ID), string(prefix)) {
				_, _ = h.apply(admission.Withdraw{Stamp: h.at(), Tx: tx.ID})
			}
		}
		return
	}
	many := rapid.IntRange(1, 2).Draw(t, label+" many")
	if p.kind == "capacity" {
		many = 1
	}
	for range many {
		h.serial++
		by := rapid.SampledFrom(h.names).Draw(t, label+" who presses")
		q := h.pressing(p.kind, graph.NodeID(fmt.Sprintf("%s/%s-%d", h.group, by, h.serial))).request(by)
		_ = h.submit(admission.TxID(fmt.Sprintf("%s-%d", prefix, h.serial)), q)
	}
}

// pressing is a call on a hidden object that is in the way of visible ones.
func (h *history) pressing(kind string, object graph.NodeID) op {
	switch kind {
	case "group":
		return change(admission.Update, h.group)
	case "slot":
		object = h.group + "/net/" + graph.NodeID(nameOf(object))
		return change(admission.Create, object, want(graph.FacetOf(h.group+"/net", "slot"), mode.X, "in_flight"))
	case "capacity":
		o := change(admission.Create, object)
		o.effects = escrow.Collect(escrow.Effect{Bucket: h.bucket(), Amount: 3})
		return o
	case "reference":
		o := change(admission.Create, object)
		o.refers = []graph.NodeID{"r/g/vm"}
		return o
	case "inside":
		return change(admission.Create, "r/g/"+graph.NodeID(nameOf(object)))
	default:
		o := change(admission.Create, object)
		o.refers = []graph.NodeID{h.group + "/net/s1", h.group + "/net"}
		return o
	}
}

// hide does something, or nothing, that is hidden.
func (h *history) hide(t *rapid.T, label string) {
	for range max(0, rapid.IntRange(-3, 3).Draw(t, label)) {
		by := rapid.SampledFrom(h.names).Draw(t, label+" who")
		switch rapid.IntRange(0, 10).Draw(t, label+" what") {
		case 0, 1, 2, 3:
			_ = h.submit(h.nextTx(by), h.secret(t, label).request(by))
		case 4, 5, 6:
			h.advance(t, label)
		case 7:
			h.serial++
			h.observe(by, rapid.Bool().Draw(t, label+" exists"), graph.NodeID(fmt.Sprintf("r/%s-%d", by, h.serial%3)), h.group+"/later")
		case 8:
			id := h.group + graph.NodeID(fmt.Sprintf("/net/h-%d", rapid.IntRange(0, 2).Draw(t, label+" subnet")))
			_, _ = h.apply(admission.Declare{Stamp: h.at(), Session: admission.SessionID(by), Creates: place(id), Selves: []graph.NodeID{id}})
		case 9:
			h.comeAndGo(t, label, by)
		case 10:
			h.serial++
			object := h.group + graph.NodeID(fmt.Sprintf("/net/h-%d", h.serial%3))
			_ = h.submit(h.nextTx(by), replacing(by, object, h.bucket(), rapid.Bool().Draw(t, label+" whole")))
		}
	}
}

func (h *history) comeAndGo(t *rapid.T, label, by string) {
	if rapid.Bool().Draw(t, label+" goes") {
		_, _ = h.apply(admission.CloseSession{Stamp: h.at(), Session: admission.SessionID(by)})
		return
	}
	h.serial++
	name := fmt.Sprintf("%s-%d", by, h.serial)
	h.open(name, admission.Reject)
	h.names = append(h.names, name)
}

// secret is a call on something hidden, which may hold what is visible for the
// sake of it.
func (h *history) secret(t *rapid.T, label string) op {
	h.serial++
	i := rapid.IntRange(0, 3).Draw(t, label+" object")
	subnet := h.group + graph.NodeID(fmt.Sprintf("/net/h-%d", i))
	nic := h.group + graph.NodeID(fmt.Sprintf("/nic-%d", i))
	slot := want(graph.FacetOf(h.group+"/net", "slot"), mode.X, "in_flight")
	switch rapid.IntRange(0, 8).Draw(t, label+" call") {
	case 0:
		return change(admission.Create, subnet, slot)
	case 1:
		return change(admission.Update, subnet, slot)
	case 2:
		return change(admission.Delete, subnet, slot)
	case 3:
		o := change(admission.Create, nic)
		o.refers = []graph.NodeID{h.group + "/net/s1"}
		o.effects = escrow.Collect(escrow.Effect{Bucket: h.bucket(), Amount: int64(1 + i)})
		return o
	case 4:
		o := change(admission.Create, nic)
		o.refers = []graph.NodeID{"r/g/vm"}
		return o
	case 5:
		return change(admission.Update, h.group, want(graph.FacetOf("r", "policy"), mode.S, "throttle"))
	case 6:
		return op{action: admission.Read, self: h.group + "/net", wants: []lock.Want{want(h.group+"/net", mode.S, "in_flight")}}
	case 7:
		return change(admission.Create, "r/g/intruder")
	default:
		return change(admission.Delete, nic)
	}
}

// advance moves some hidden call on.
func (h *history) advance(t *rapid.T, label string) {
	open := slices.DeleteFunc(h.of(h.names...), func(tx admission.Tx) bool { return tx.Status.Final() || h.isCommon(&tx) })
	if len(open) == 0 {
		return
	}
	tx := rapid.SampledFrom(open).Draw(t, label+" tx")
	switch tx.Status {
	case admission.Admitted:
		if tx.Action == admission.Reserve {
			h.planned(&tx, rapid.Bool().Draw(t, label+" first"))
			return
		}
		h.start(tx.ID)
	case admission.Actioning:
		r := rapid.SampledFrom([]admission.Result{admission.Succeeded, admission.Succeeded, admission.Errored, admission.Lost}).Draw(t, label+" result")
		h.complete(tx.ID, r, rapid.Bool().Draw(t, label+" left"))
	case admission.Uncertain:
		_, _ = h.apply(admission.Resolve{Stamp: h.at(), Tx: tx.ID, Actor: "judge", Reason: "seen", Exists: rapid.Bool().Draw(t, label+" is there")})
	default:
		_, _ = h.apply(admission.Withdraw{Stamp: h.at(), Tx: tx.ID})
	}
}

// replacing reserves the replace of an object that uses capacity.
func replacing(by string, object graph.NodeID, k escrow.Key, whole bool) admission.Request {
	old, young := change(admission.Delete, object).request(by), change(admission.Create, object).request(by)
	return admission.Request{
		Session: admission.SessionID(by), Action: admission.Reserve, Nodes: old.Nodes, Whole: whole,
		Calls: []admission.Planned{
			{
				ID: "create", Self: object, Action: admission.Create, Locks: young.Locks, Group: "replace",
				Effects: escrow.Collect(escrow.Effect{Bucket: k, Amount: 2}), After: []admission.CallID{"delete"},
			},
			{
				ID: "delete", Self: object, Action: admission.Delete, Locks: old.Locks, Group: "replace",
				Effects: escrow.Collect(escrow.Effect{Bucket: k, Amount: -1}),
			},
		},
	}
}

// planned sends a call of a reserved replace.
func (h *history) planned(plan *admission.Tx, first bool) {
	c := plan.Calls[0]
	if first {
		c = plan.Calls[1]
	}
	q := change(c.Action, c.Self).request(string(plan.Session))
	q.Guards, q.Effects, q.Plan, q.Call = nil, c.Effects, plan.ID, c.ID
	_ = h.submit(h.nextTx(string(plan.Session)), q)
}

// step is a visible step.
type step struct {
	kind   string
	delta  Delta
	object string
	number int
	result admission.Result
	exists bool
}

func drawStep(t *rapid.T) step {
	return step{
		kind: rapid.SampledFrom([]string{
			"ask", "ask", "ask", "ask", "start", "start", "complete", "complete", "withdraw", "pal", "common", "common on",
			"declare", "observe", "resolve", "plan", "limit",
		}).Draw(t, "step"),
		delta: Delta{
			Action: rapid.SampledFrom([]admission.Action{admission.Update, admission.Delete, admission.Read, admission.Create}).Draw(t, "action"),
			Self:   LocalID(rapid.SampledFrom([]string{"", "", "vm-1", "g-1", "net-1", "s-1", "node-1", "thing-1"}).Draw(t, "self")),
			Type:   "sim_thing", In: LocalID(rapid.SampledFrom([]string{"g-1", "net-1", "realm-1", "h-1"}).Draw(t, "in")),
			Name:    rapid.SampledFrom([]string{"x", "y"}).Draw(t, "name"),
			Uses:    rapid.SampledFrom([][]Reference{nil, {{ID: "s-1", Kind: graph.References}}, {{ID: "net-1", Kind: graph.Depends}}}).Draw(t, "uses"),
			Planned: rapid.SampledFrom([][]Planned{nil, nil, {{ID: "s-1", Version: 1}}, {{ID: "vm-1", Version: 1}}}).Draw(t, "planned"),
			Needs:   rapid.SampledFrom([][]Need{nil, nil, {{ID: "s-1", Bucket: bucket, Amount: 2}}, {{ID: "s-1", Bucket: bucket, Amount: 7}}}).Draw(t, "needs"),
		},
		object: rapid.SampledFrom([]string{"net", "net/s1"}).Draw(t, "object"),
		number: rapid.IntRange(0, 5).Draw(t, "number"),
		result: rapid.SampledFrom([]admission.Result{admission.Succeeded, admission.Succeeded, admission.Errored, admission.Lost}).Draw(t, "result"),
		exists: rapid.Bool().Draw(t, "exists"),
	}
}

// step makes a visible step: of the session, of the one that is named to it, or
// of somebody hidden with a visible object.
func (h *history) step(x step) {
	var err error
	switch x.kind {
	case "ask":
		err = h.ask(x.delta)
	case "pal":
		err = h.submit(admission.TxID(fmt.Sprintf("pal-%d", x.number)), change(admission.Update, h.group+graph.NodeID("/"+x.object)).request("pal"))
	case "common":
		h.common++
		err = h.submit(admission.TxID(fmt.Sprintf("common-%d", h.common)), change(admission.Update, h.group+graph.NodeID("/"+x.object)).request("root-"+nameOf(h.group)))
	case "common on":
		h.on(x, func(tx *admission.Tx) bool { return h.isCommon(tx) || tx.Session == "pal" })
	case "declare":
		id := graph.NodeID(fmt.Sprintf("r/g/new-%d", x.number))
		_, err = h.apply(admission.Declare{Stamp: h.at(), Session: "me", Creates: place(id), Selves: []graph.NodeID{id}})
	case "plan":
		h.serial++
		err = h.submit(admission.TxID(fmt.Sprintf("me-%d", len(h.errs))), replacing("me", "r/g/vm", h.bucket(), x.exists))
	case "limit":
		_, err = h.apply(admission.Measure{Stamp: h.at(), Session: "me", Began: h.state.Index(), Readings: []admission.Reading{{
			Bucket: h.bucket(), Limit: escrow.At(int64(3 * x.number)),
		}}})
	case "observe":
		h.observe("me", x.exists, "r/g/vm")
	default:
		h.on(x, func(tx *admission.Tx) bool { return tx.Session == "me" })
	}
	h.errs = append(h.errs, fmt.Sprint(err))
}

func (h *history) isCommon(tx *admission.Tx) bool { return strings.HasPrefix(string(tx.ID), "common-") }

// ask resolves a delta, and submits what a rule would make of it.
func (h *history) ask(d Delta) error {
	q, err := h.local.GlobalDelta(h.lens, h.state, d)
	if err != nil {
		return err
	}
	o := change(d.Action, q.Self)
	if d.Action == admission.Read {
		o.wants = []lock.Want{want(q.Self, mode.S, "in_flight")}
	}
	if q.Self == h.group+"/net/s1" {
		o.wants = append(o.wants, want(graph.FacetOf(h.group+"/net", "slot"), mode.X, "in_flight"))
	}
	for _, e := range q.Edges {
		o.refers = append(o.refers, e.To)
	}
	o.effects, o.guards = q.Effects, append(o.guards, q.Guards...)
	h.serial++
	return h.submit(admission.TxID(fmt.Sprintf("me-%d", len(h.errs))), o.request("me"))
}

// on moves one of some transactions on.
func (h *history) on(x step, which func(*admission.Tx) bool) {
	list := slices.DeleteFunc(h.state.Transactions(), func(tx admission.Tx) bool { return tx.Status.Final() || !which(&tx) })
	if len(list) == 0 {
		return
	}
	tx := list[x.number%len(list)]
	switch {
	case tx.Action == admission.Reserve && tx.Status == admission.Admitted && x.kind != "withdraw":
		c := tx.Calls[x.number%2]
		q := change(c.Action, c.Self).request("me")
		q.Guards, q.Effects, q.Plan, q.Call = nil, c.Effects, tx.ID, c.ID
		_ = h.submit(admission.TxID(fmt.Sprintf("me-%d", len(h.errs))), q)
	case x.kind == "withdraw":
		_, _ = h.apply(admission.Withdraw{Stamp: h.at(), Tx: tx.ID})
	case tx.Status == admission.Admitted:
		h.start(tx.ID)
	case tx.Status == admission.Actioning:
		h.complete(tx.ID, x.result, x.exists)
	case tx.Status == admission.Uncertain && x.kind == "resolve":
		_, _ = h.apply(admission.Resolve{Stamp: h.at(), Tx: tx.ID, Actor: "judge-of-" + nameOf(h.group), Reason: "saw " + string(h.group), Exists: x.exists})
	}
}

// interference is what hidden sessions do to visible calls, judged from the raw
// state: how each was decided, by class and visible node, behind which visible
// call, and what capacity is left. It knows nothing of the package.
func (h *history) interference() string {
	var b strings.Builder
	for _, tx := range h.state.Transactions() {
		if tx.Session != "me" && tx.Session != "pal" && !h.isCommon(&tx) {
			continue
		}
		fmt.Fprintf(&b, "%s %s %s %s %s ", tx.ID, tx.Action, h.visibleName(tx.Self), tx.Status, tx.Cause)
		if tx.Session == "me" {
			b.WriteString(strings.Join(h.reasons(tx.ID), " "))
		}
		b.WriteString("\n")
	}
	l := h.state.Capacity().Level(h.bucket())
	fmt.Fprintf(&b, "%d of %d\n", max(0, l.Limit.Value-l.Sup), l.Limit.Value)
	// What is visible is visible, whoever did it.
	for _, id := range []graph.NodeID{"r/g", "r/g/vm", h.group + "/net", h.group + "/net/s1", h.group + "/later"} {
		n, _ := h.state.Graph().Get(id)
		fmt.Fprintf(&b, "%s %s %s %d\n", nameOf(id), n.Lifecycle, n.Digest, n.Incarnation)
	}
	return b.String() + strings.Join(h.errs, "\n")
}

func (h *history) reasons(id admission.TxID) []string { return h.reasonsOf(h.state.Blockers(id)) }

func (h *history) reasonsOf(blockers []admission.Blocker) []string {
	set := map[string]bool{}
	for _, w := range blockers {
		guard := w.Guard != ""
		set[fmt.Sprintf("(%s %t %t %t %s)", w.Class, guard, w.Replan, w.Exceeded, h.visibleName(w.Node))] = true
		if w.HolderSession == "me" || w.HolderSession == "pal" {
			set[fmt.Sprintf("behind %s %s %s", w.HolderSession, w.Holder, w.Class)] = true
		}
	}
	var list []string
	for k := range set {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// visibleName is a name for a node that does not depend on the hidden group;
// empty for what is hidden.
func (h *history) visibleName(id graph.NodeID) string {
	if owner, _, ok := graph.OwnerOfFacet(id); ok {
		id = owner
	}
	switch {
	case id == "r", id == "r/g", strings.HasPrefix(string(id), "r/g/") && h.mine(id):
		return string(id)
	case id == h.group+"/net", id == h.group+"/net/s1", strings.HasPrefix(string(id), string(h.group)+"/net/~name/"):
		return strings.TrimPrefix(string(id), string(h.group))
	default:
		return ""
	}
}

// mine says whether an object in the session's group is its own.
func (h *history) mine(id graph.NodeID) bool {
	if id == "r/g/vm" || slices.Contains(h.state.Declares("me"), id) {
		return true
	}
	return slices.ContainsFunc(h.of("me"), func(tx admission.Tx) bool { return tx.Self == id })
}

// blockedByHidden counts the session's calls that wait for, or were refused for
// the sake of, somebody hidden.
func (h *history) blockedByHidden() (delayed, refused int) {
	for _, tx := range h.of("me") {
		hidden := slices.ContainsFunc(h.state.Blockers(tx.ID), func(w admission.Blocker) bool {
			return w.HolderSession != "me" && w.HolderSession != "pal" && w.HolderSession != ""
		})
		switch {
		case hidden && tx.Status == admission.Queued:
			delayed++
		case hidden && tx.Status == admission.Rejected:
			refused++
		}
	}
	return delayed, refused
}

// render is everything that the session is shown.
func (h *history) render() string {
	var b strings.Builder
	v := h.local.View(h.lens, h.state)
	fmt.Fprintln(&b, "view", toJSON(h.t, v))
	fmt.Fprintln(&b, "notices", toJSON(h.t, Notices(h.shown, v)))
	h.shown = v
	for _, tx := range h.of("me") {
		r := h.local.Report(h.lens, h.state, conflict.BuildAt(h.state, tx.ID, "me", h.now))
		fmt.Fprintf(&b, "report %s\n%s\n", toJSON(h.t, r), conflict.Text(r))
	}
	for _, id := range []admission.TxID{"common-1", "pal-1", "pal-2"} {
		fmt.Fprintf(&b, "foreign %s\n", toJSON(h.t, h.local.Report(h.lens, h.state, conflict.BuildAt(h.state, id, "me", h.now))))
	}
	for _, d := range asked() {
		fmt.Fprintln(&b, "preflight", toJSON(h.t, v.Preflight(d)))
		q, err := h.local.GlobalDelta(h.lens, h.state, d)
		fmt.Fprintln(&b, "resolves", h.visibleName(q.Self), err)
		if err == nil {
			q.Locks = lock.Close([]lock.Want{want(q.Self, mode.X, "in_flight")}, parentOf)
			p := h.state.Forecast([]admission.Request{q})[0]
			h.prospects += fmt.Sprintln(p.Decision, h.reasonsOf(p.Blockers))
			r := h.local.Prospect(h.lens, h.state, q, conflict.BuildProspect(h.state, q, p))
			fmt.Fprintf(&b, "forecast %s\n%s\n", toJSON(h.t, r), conflict.Text(r))
		}
	}
	return b.String()
}

// asked are deltas that a session may think of, wherever it stands.
func asked() []Delta {
	return []Delta{
		{Action: admission.Delete, Self: "g-1"},
		{Action: admission.Delete, Self: "s-1", Planned: []Planned{{ID: "s-1", Version: 1}}},
		{Action: admission.Update, Self: "net-1"},
		{Action: admission.Update, Self: "h-1"},
		{
			Action: admission.Create, Type: "sim_nic", In: "g-1", Name: "n",
			Uses: []Reference{{ID: "s-1", Kind: graph.References}, {ID: "xq-alpha-1", Kind: graph.Depends}}, Needs: []Need{{ID: "s-1", Bucket: bucket, Amount: 6}},
		},
		{Action: admission.Create, Type: "sim_vm", In: "node-1", Name: "n"},
	}
}
