// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// TestWhatAccessAllows: every action at every degree of access.
func TestWhatAccessAllows(t *testing.T) {
	t.Parallel()
	for action, least := range map[admission.Action]Access{
		admission.Read: Readable, admission.Create: Usable, admission.Update: Changeable, admission.Delete: Changeable, admission.Reserve: Own + 1,
	} {
		for a := Hidden; a <= Own; a++ {
			if got := a.Allows(action); got != (a >= least) {
				t.Errorf("%s of what is %s: %t", action, a, got)
			}
		}
	}
}

// TestHowMuchIsAbove: the wider and the narrower of each two visibilities.
func TestHowMuchIsAbove(t *testing.T) {
	t.Parallel()
	rank := map[Parents]int{NoParents: 0, Names: 1, "": 1, Full: 2}
	for a := range rank {
		for b := range rank {
			if got := rank[wider(a, b)]; got != max(rank[a], rank[b]) {
				t.Errorf("wider of %q and %q: %q", a, b, wider(a, b))
			}
			if got := rank[narrower(a, b)]; got != min(rank[a], rank[b]) {
				t.Errorf("narrower of %q and %q: %q", a, b, narrower(a, b))
			}
		}
	}
}

// TestSharesAddUp: of several shares of one node each adds what it allows, in
// whatever order they stand.
func TestSharesAddUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	with := []Subject{SessionSubject("me")}
	weak := Share{Node: "r/h/net", With: with, Mode: Read, Parents: Full}
	strong := Share{Node: "r/h/net", With: with, Mode: Change, Parents: NoParents}
	deep := Share{Node: "r/h", With: with, Mode: Use, Parents: NoParents, Contents: true}
	for _, c := range []struct {
		shares []Share
		want   Access
		above  Access
	}{
		{[]Share{weak, strong}, Changeable, Readable},
		{[]Share{strong, weak}, Changeable, Readable},
		{[]Share{weak}, Readable, Readable},
		{[]Share{strong}, Changeable, Hidden},
		{[]Share{deep, weak}, Usable, Usable},
		{[]Share{weak, deep}, Usable, Usable},
	} {
		l := NewLens(Policy{Default: Confined, Shares: c.shares}, session("me"))
		if got, above := l.Visible(w.state, "r/h/net"), l.Visible(w.state, "r/h"); got != c.want || above != c.above {
			t.Errorf("%+v: %s below %s", c.shares, got, above)
		}
	}
}

// TestNobodysKin: sessions without a Terraform state have none in common.
func TestNobodysKin(t *testing.T) {
	t.Parallel()
	me := session("me")
	me.Origin = ""
	l := NewLens(Policy{Default: Confined}, me)
	for origin, want := range map[string]bool{"": false, "state-me": false} {
		if x := (admission.Session{ID: "x", Origin: origin}); l.kin(&x) != want {
			t.Errorf("kin of %q", origin)
		}
	}
	l = NewLens(Policy{Default: Confined}, session("me"))
	for origin, want := range map[string]bool{"": false, "state-me": true, "state-x": false} {
		if x := (admission.Session{ID: "x", Origin: origin}); l.kin(&x) != want {
			t.Errorf("kin of %q", origin)
		}
	}
}

// TestOwnEventsConcern: a session notices every decision about itself and its
// transactions, and none of those about hidden ones.
func TestOwnEventsConcern(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.open("stranger", admission.Queue)
	_ = w.submit("t-me", change(admission.Update, "r/g/vm").request("me"))
	_ = w.submit("t-stranger", change(admission.Update, "r/h/disk").request("stranger"))
	for _, who := range []string{"me", "stranger"} {
		id := admission.SessionID(who)
		tx := admission.TxID("t-" + who)
		full, _ := w.state.Tx(tx)
		for _, e := range []admission.Event{
			admission.SessionOpened{Session: admission.Session{ID: id}},
			admission.LeaseRenewed{Session: id},
			admission.IntentAdded{Intent: admission.Intent{Session: id}},
			admission.SenderDied{Session: id},
			admission.Declared{Session: id},
			admission.SessionEnded{Session: id},
			admission.TxSubmitted{Tx: full},
			admission.TxQueued{Tx: tx},
			admission.TxStaled{Tx: tx},
			admission.TxRejected{Tx: tx},
			admission.TxAdmitted{Tx: tx},
			admission.TxPassed{Tx: tx},
			admission.TxStarted{Tx: tx},
			admission.TxUncertain{Tx: tx},
			admission.TxEnded{Tx: tx},
			admission.ClaimAdmitted{Claim: admission.Claim{ID: tx, Plan: tx}},
		} {
			if got := w.lens.Concerns(w.state, e); got != (who == "me") {
				t.Errorf("%T of %s: %t", e, who, got)
			}
		}
	}
	// What a session of another one does to what is shown, or leaves of it, too.
	_ = w.submit("net", change(admission.Update, "r/h/net").request("root-h"))
	for _, e := range []admission.Event{admission.TxUncertain{Tx: "net"}, admission.TxAdmitted{Tx: "net"}, admission.TxStarted{Tx: "net"}} {
		if !w.lens.Concerns(w.state, e) {
			t.Errorf("%T of what is shown", e)
		}
	}
	for broken, want := range map[graph.NodeID]bool{"r/g/vm": true, "r/h/net": true, "r/h/disk": false} {
		if got := w.lens.Concerns(w.state, admission.ClaimEnded{Claim: "x", Broken: []graph.NodeID{"r/h", broken}}); got != want {
			t.Errorf("%s half replaced: %t", broken, got)
		}
	}
}

// TestHistoryGivesAccess: what a session has made is its own, and what it has only
// changed it may look at.
func TestHistoryGivesAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.observe("root-h", true, "r/h/tag")
	for _, o := range []op{change(admission.Update, "r/h/tag"), change(admission.Create, "r/h/mine")} {
		id := admission.TxID("t " + string(o.self))
		if err := w.submit(id, o.request("me")); err != nil {
			t.Fatal(err)
		}
		w.start(id)
		w.complete(id, admission.Errored, true)
		// Another state takes it over.
		if err := w.submit(id+" root", change(admission.Update, o.self).request("root-h")); err != nil {
			t.Fatal(err)
		}
		w.start(id + " root")
		w.complete(id+" root", admission.Succeeded, true)
	}
	for id, want := range map[graph.NodeID]Access{"r/h/tag": Readable, "r/h/mine": Own} {
		if got := w.lens.Visible(w.state, id); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}

// TestUsedIsAllowed: a reference needs the right to use its target, and a plan the
// very version that it was made on.
func TestUsedIsAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.observe("pal", true, "r/g/pals")
	p := policyFor("r/h")
	p.Shares = append(p.Shares, Share{Node: "r/g/pals", With: []Subject{Everyone}, Mode: Read})
	w.lens = NewLens(p, session("me"))
	w.local.View(w.lens, w.state)
	id, _ := w.local.Local("r/g/pals")
	vm, _ := w.local.Local("r/g/vm")
	for _, c := range []struct {
		delta Delta
		want  error
	}{
		{Delta{Action: admission.Update, Self: vm, Uses: refer(id)}, ErrNotAllowed},
		{Delta{Action: admission.Update, Self: vm, Planned: []Planned{{ID: id, Version: 1}}}, nil},
		{Delta{Action: admission.Update, Self: vm, Planned: []Planned{{ID: id, Version: 0}}}, ErrChanged},
		{Delta{Action: admission.Update, Self: vm, Planned: []Planned{{ID: id, Version: 2}}}, ErrChanged},
	} {
		if _, err := w.local.GlobalDelta(w.lens, w.state, c.delta); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c.delta, err)
		}
	}
}

// TestNamesFollowTheObject: the local id of what stood for an object is that of the
// object, once the cloud has chosen its id, in both directions and in what is kept.
func TestNamesFollowTheObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	pending := graph.PendingOf("me", "sim.disk")
	q := change(admission.Create, "r/g/disk").request("me")
	q.Self = pending
	q.Nodes = append(place("r/g"), graph.Decl{ID: pending, Parent: "r/g", Kind: graph.Pending, Type: "sim_disk"})
	q.Locks = nil
	if err := w.submit("t", q); err != nil {
		t.Fatal(err)
	}
	w.local.View(w.lens, w.state)
	id, ok := w.local.Local(pending)
	if !ok {
		t.Fatal("what is to be created is not shown")
	}
	w.start("t")
	tx, _ := w.state.Tx("t")
	w.must(admission.Complete{Stamp: w.at(), Tx: "t", Token: tx.Token, Result: admission.Succeeded, Bind: declOf("r/g/disk-7")})
	if n, err := w.local.Resolve(w.lens, w.state, id); err != nil || n != "r/g/disk-7" {
		t.Errorf("before it is shown: %s %v", n, err)
	}
	w.local.View(w.lens, w.state)
	n, err := w.local.Resolve(w.lens, w.state, id)
	again, _ := w.local.Local("r/g/disk-7")
	global, _ := w.local.Global(id)
	if err != nil || n != "r/g/disk-7" || again != id || global != "r/g/disk-7" {
		t.Errorf("%s is %s, known as %s of %s: %v", id, n, again, global, err)
	}
	data, err := json.Marshal(w.local)
	if err != nil {
		t.Fatal(err)
	}
	var back Locals
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if kept, err := json.Marshal(&back); err != nil || string(kept) != string(data) {
		t.Errorf("%s\n%s: %v", data, kept, err)
	}
}

// TestTokensStay: the number of a token stays when its call is over.
func TestTokensStay(t *testing.T) {
	t.Parallel()
	var l Locals
	for _, status := range []admission.Status{admission.Admitted, admission.Actioning, admission.Uncertain, admission.Operational} {
		if got := l.Token(&admission.Tx{ID: "t", Token: 40, Status: status}); got != 1 {
			t.Errorf("%s: %d", status, got)
		}
	}
	if a, b := l.Token(&admission.Tx{ID: "u"}), l.Token(&admission.Tx{ID: "u", Token: 41}); a != 0 || b != 2 {
		t.Errorf("%d, then %d", a, b)
	}
}

// TestWhatIsDifferent: a change of any part of what is shown is a change, also where
// it is as long as before.
func TestWhatIsDifferent(t *testing.T) {
	t.Parallel()
	n := func(v int64) *int64 { return &v }
	base := Bucket{Name: "a", Limit: 9, Available: 3, Used: n(4), Reserved: n(2)}
	for what, b := range map[string]Bucket{
		"limit": {Name: "a", Limit: 8, Available: 3, Used: n(4), Reserved: n(2)}, "available": {Name: "a", Limit: 9, Available: 4, Used: n(4), Reserved: n(2)},
		"used": {Name: "a", Limit: 9, Available: 3, Used: n(5), Reserved: n(2)}, "reserved": {Name: "a", Limit: 9, Available: 3, Used: n(4), Reserved: n(3)},
		"nothing of others": {Name: "a", Limit: 9, Available: 3},
	} {
		if got := Notices(View{Capacity: []Bucket{base}}, View{Capacity: []Bucket{b}}); len(got) != 1 || got[0].What != "changed" {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if got := Notices(View{Capacity: []Bucket{base}}, View{Capacity: []Bucket{{Name: "a", Limit: 9, Available: 3, Used: n(4), Reserved: n(2)}}}); got != nil {
		t.Errorf("nothing: %+v", got)
	}
	w := newWorld(t, "r/h", admission.Queue)
	see := func(digest string) uint64 {
		w.must(admission.Observe{Stamp: w.at(), Session: "me", Began: w.state.Index(), Objects: []admission.Observation{{Decl: declOf("r/g/vm"), Exists: true, Digest: digest}}})
		v := w.local.View(w.lens, w.state)
		id, _ := w.local.Local("r/g/vm")
		return v.Find(id).Version
	}
	if a, b := see("d1"), see("d2"); b != a+1 {
		t.Errorf("version %d, then %d", a, b)
	}
}

// TestModesAreJoined: what one session holds of a node by several locks is shown as
// one, of a mode that covers all; and who passes holds nothing.
func TestModesAreJoined(t *testing.T) {
	t.Parallel()
	list := merge([]held{{node: "n", by: "a", mode: mode.IX}, {node: "n", by: "a", mode: mode.S}, {node: "n", by: "b", mode: mode.IS}})
	if len(list) != 2 || list[0].mode != mode.SIX || list[1].mode != mode.IS {
		t.Errorf("%+v", list)
	}
	w := newWorld(t, "r/h", admission.Queue)
	_ = w.submit("h", change(admission.Update, "r/g/vm").request("pal"))
	_ = w.submit("t", change(admission.Update, "r/g/vm").request("me"))
	w.must(admission.Pass{Stamp: w.at(), Tx: "t", Mode: "wait"})
	for _, l := range w.local.View(w.lens, w.state).Locks {
		if l.By == ownerSelf {
			t.Errorf("%+v", l)
		}
	}
}

// TestNothingBelowNothing: what is left of an overdrawn count is none, and what
// others have of it is no more than is taken.
func TestNothingBelowNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		used, reserved, theirs int64
		wantUsed, wantTheirs   int64
	}{{2, 3, 2, 3, 2}, {-4, 5, 5, 0, 1}, {9, 5, 5, 5, 5}, {12, 0, 0, 10, 0}, {-9, 3, 3, 0, 0}} {
		got := remaining(&conflict.Capacity{Limit: 10, Used: c.used, Reserved: c.reserved, Theirs: c.theirs}, c.theirs)
		if got.Used != c.wantUsed || got.Theirs != c.wantTheirs || got.Reserved != got.Theirs || got.Used < 0 || got.Used+got.Reserved > 10 {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	if r := (room{level: escrow.Level{Limit: escrow.At(5), Sup: 7}}); r.available() != 0 {
		t.Errorf("%d available", r.available())
	}
}

// TestKnownOfOnceChanged: a shared node of which nothing but a change is known is
// not one that nobody has named.
func TestKnownOfOnceChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	q := change(admission.Create, "r/h/rule").request("root-h")
	q.AddEdges = []graph.Edge{{From: "r/h/later", To: "r/h/rule", Kind: graph.Attaches}}
	q.Nodes = place("r/h/rule", "r/h/later")
	kind := func() graph.Kind {
		v := w.local.View(w.lens, w.state)
		id, _ := w.local.Local("r/h/later")
		return v.Find(id).Kind
	}
	if got := kind(); got != "" {
		t.Errorf("before: %q", got)
	}
	if err := w.submit("t", q); err != nil {
		t.Fatal(err)
	}
	w.start("t")
	w.complete("t", admission.Succeeded, true)
	if got := kind(); got != graph.Resource {
		t.Errorf("afterwards: %q", got)
	}
}
