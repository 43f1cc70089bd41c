// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// TestAccess: what must be visible is, as far as it must, and nothing else.
func TestAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.open("stranger", admission.Queue)
	w.observe("stranger", true, "r/h/disk", "r/g/spy")
	w.must(admission.Declare{Stamp: w.at(), Session: "me", Creates: place("r/g/new", "r/h/disk"), Selves: []graph.NodeID{"r/g/new", "r/h/disk"}})
	if err := w.submit("guess", change(admission.Update, "r/h/disk").request("me")); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[graph.NodeID]Access{
		"r": Named, "r/g": Own, "r/g/vm": Own, "r/g/vm/~life": Own, "r/g/new": Own,
		"r/h": Hidden, "r/h/net": Usable, "r/h/net/s1": Changeable, "r/h/later": Usable,
		"r/h/disk": Hidden, // to declare or to ask for it gives no access to what others have
		"r/g/spy":  Hidden, "nothing": Hidden,
	} {
		if got := w.lens.Visible(w.state, id); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
	for _, c := range []struct {
		action admission.Action
		id     graph.NodeID
		want   bool
	}{
		{admission.Update, "r/g/vm", true},
		{admission.Create, "r/h/net", true},
		{admission.Update, "r/h/net", false},
		{admission.Read, "r/h/net", true},
		{admission.Delete, "r/h/net/s1", true},
		{admission.Create, "r", false},
		{admission.Read, "r/h", false},
		{admission.Reserve, "r/g", false},
	} {
		if got := w.lens.Allowed(w.state, c.action, c.id); got != c.want {
			t.Errorf("%s of %s: %t", c.action, c.id, got)
		}
	}
}

// TestParents: how much is told of what is above is for each share to say.
func TestParents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	for parents, want := range map[Parents]Access{NoParents: Hidden, Names: Named, "": Named, Full: Readable} {
		p := policyFor("r/h")
		for i := range p.Shares {
			p.Shares[i].Parents = parents
		}
		l := NewLens(p, session("me"))
		if got := l.Visible(w.state, "r/h"); got != want {
			t.Errorf("%q: the group is %s, want %s", parents, got, want)
		}
		v := (&Locals{}).View(l, w.state)
		for _, n := range v.Nodes {
			told := n.CloudID != ""
			if hidden := n.Name == "net" || n.Name == "s1"; hidden && told != (want != Hidden) {
				t.Errorf("%q: the id of %s is told: %t", parents, n.Name, told)
			}
			if n.Name == "h" && (n.Lifecycle != "") != (want == Readable) {
				t.Errorf("%q: the group is %+v", parents, n)
			}
		}
	}
}

// TestOwnInShared: who makes something in a shared node sees no more of what is
// above that node than the share allows.
func TestOwnInShared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	if err := w.submit("t", change(admission.Create, "r/h/net/mine").request("me")); err != nil {
		t.Fatal(err)
	}
	w.start("t")
	w.complete("t", admission.Succeeded, true)
	if a, b := w.lens.Visible(w.state, "r/h/net/mine"), w.lens.Visible(w.state, "r/h"); a != Own || b != Hidden {
		t.Errorf("mine is %s and the group %s", a, b)
	}
}

// TestContents: a share may include what the node contains.
func TestContents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.open("stranger", admission.Queue)
	w.must(admission.Declare{Stamp: w.at(), Session: "stranger", Creates: place("r/h/net/unseen"), Selves: []graph.NodeID{"r/h/net/unseen"}})
	p := Policy{Default: Confined, Shares: []Share{{Node: "r/h", With: []Subject{Everyone}, Mode: Read, Parents: NoParents, Contents: true}}}
	l := NewLens(p, session("me"))
	for id, want := range map[graph.NodeID]Access{"r/h": Readable, "r/h/net/s1": Readable, "r/h/net/unseen": Hidden, "r/g": Own} {
		if got := l.Visible(w.state, id); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}

// TestKin: sessions of one Terraform state see what the state owns, and each
// other.
func TestKin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	x := session("me-again")
	x.Origin = "state-me"
	w.must(admission.OpenSession{Stamp: w.at(), Session: x, Intent: admission.Intent{ID: "i"}})
	l := NewLens(policyFor("r/h"), x)
	if got := l.Visible(w.state, "r/g/vm"); got != Own {
		t.Errorf("the vm is %s", got)
	}
	if l.party(w.state, "me") != known || w.lens.party(w.state, "pal") != known || w.lens.party(w.state, "root-h") != stranger || l.party(w.state, "") != stranger {
		t.Error("who is who")
	}
}

// TestLocalIDs: two sessions know one node by different ids, each of which leads
// back to it, and a foreign or unknown id leads nowhere.
func TestLocalIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.observe("pal", true, "r/p", "r/p/net", "r/p/s1")
	policy := policyFor("r/h")
	policy.Shares[0].With = append(policy.Shares[0].With, SessionSubject("pal"))
	mine, pals := &Locals{}, &Locals{}
	me, pal := NewLens(policy, session("me")), NewLens(policy, session("pal"))
	for l, lens := range map[*Locals]*Lens{mine: me, pals: pal} {
		for _, n := range l.View(lens, w.state).Nodes {
			id, err := l.Resolve(lens, w.state, n.ID)
			if err != nil {
				t.Fatal(err)
			}
			if back, ok := l.Local(id); !ok || back != n.ID {
				t.Errorf("%s leads to %s, which is %s", n.ID, id, back)
			}
		}
	}
	a, _ := mine.Local("r/h/net")
	b, _ := pals.Local("r/h/net")
	if a == b || a == "" || b == "" {
		t.Errorf("the shared network is %q and %q", a, b)
	}
	unshared := NewLens(Policy{Default: Confined}, session("me"))
	var gone *UnknownIDError
	if _, err := mine.Resolve(unshared, w.state, a); !errors.As(err, &gone) || gone.ID != a {
		t.Errorf("what is not shared any more: %v", err)
	}
	for _, id := range []LocalID{"", "net-9", "r/h/net", "r/h", "h-1"} {
		var unknown *UnknownIDError
		if _, err := mine.Resolve(me, w.state, id); !errors.As(err, &unknown) || unknown.ID != id || !errors.Is(err, ErrUnknownID) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestLocalIDsAreStable: whatever comes to be visible later, and after an object
// got its id from the cloud.
func TestLocalIDsAreStable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	first := w.local.View(w.lens, w.state)
	name := graph.NameOf("r/g", "sim_thing", "web")
	if err := w.submit("t", change(admission.Create, name).request("me")); err != nil {
		t.Fatal(err)
	}
	v := w.local.View(w.lens, w.state)
	id, _ := w.local.Local(name)
	if n := v.Find(id); n == nil || n.Access != Own {
		t.Fatalf("the name is %+v", n)
	}
	w.start("t")
	tx, _ := w.state.Tx("t")
	w.must(admission.Complete{
		Stamp: w.at(), Tx: "t", Token: tx.Token, Result: admission.Succeeded, Bind: graph.Decl{ID: "r/g/thing-77", Parent: "r/g"},
	})
	v = w.local.View(w.lens, w.state)
	if n := v.Find(id); n == nil || n.CloudID != "r/g/thing-77" || n.Lifecycle != graph.Operational {
		t.Errorf("%s is %+v", id, n)
	}
	if real, err := w.local.Resolve(w.lens, w.state, id); err != nil || real != "r/g/thing-77" {
		t.Errorf("%s leads to %s, %v", id, real, err)
	}
	for _, n := range first.Nodes {
		if v.Find(n.ID) == nil || v.Find(n.ID).Name != n.Name {
			t.Errorf("%s is no longer %s", n.ID, n.Name)
		}
	}
}

// TestLocalVersions count what is shown to change.
func TestLocalVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.open("stranger", admission.Queue)
	version := func() [2]uint64 {
		v := w.local.View(w.lens, w.state)
		id, _ := w.local.Local("r/h/net")
		n, _ := w.state.Graph().Get("r/h/net")
		return [2]uint64{v.Find(id).Version, n.Version}
	}
	first := version()
	// Somebody hidden adds a reference to something hidden: the graph counts it.
	o := change(admission.Create, "r/h/rule")
	q := o.request("stranger")
	q.AddEdges = []graph.Edge{{From: "r/h/net", To: "r/h/rule", Kind: graph.Attaches}}
	q.Nodes = place("r/h/rule", "r/h/net")
	if err := w.submit("t", q); err != nil {
		t.Fatal(err)
	}
	w.start("t")
	w.complete("t", admission.Succeeded, true)
	second := version()
	if second[0] != first[0] || second[1] == first[1] {
		t.Errorf("a hidden change: %v, then %v", first, second)
	}
	// Somebody hidden changes the network itself: that is to be seen.
	if err := w.submit("u", change(admission.Update, "r/h/net").request("root-h")); err != nil {
		t.Fatal(err)
	}
	w.start("u")
	third := version()
	if third[0] != second[0]+1 {
		t.Errorf("a visible change: %v, then %v", second, third)
	}
	if again := version(); again != third {
		t.Errorf("looking changed %v to %v", third, again)
	}
}

// TestTokens: the session's own numbers for its tokens lead to the tokens, of
// that transaction alone.
func TestTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.open("stranger", admission.Queue)
	for i := range 3 {
		_ = w.submit(admission.TxID(fmt.Sprint("x", i)), change(admission.Create, graph.NodeID(fmt.Sprint("r/h/x", i))).request("stranger"))
	}
	_ = w.submit("a", change(admission.Update, "r/g/vm").request("me"))
	_ = w.submit("b", change(admission.Create, "r/g/disk").request("me"))
	v := w.local.View(w.lens, w.state)
	for i, c := range v.Calls {
		tx, _ := w.state.Tx(c.ID)
		got, err := w.local.Fence(w.state, c.ID, c.Token)
		if c.Token != uint64(i+1) || tx.Token <= 3 || err != nil || got != tx.Token {
			t.Errorf("%+v is %d, %v", c, got, err)
		}
	}
	for _, x := range []struct {
		id admission.TxID
		n  uint64
	}{{"a", 2}, {"a", 0}, {"x0", 1}, {"none", 0}} {
		if _, err := w.local.Fence(w.state, x.id, x.n); !errors.Is(err, admission.ErrToken) {
			t.Errorf("%s %d: %v", x.id, x.n, err)
		}
	}
}

// TestOpenSeesEverything: with nothing set, every object is there under its id,
// with everybody's names and numbers.
func TestOpenSeesEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.open("stranger", admission.Queue)
	o := change(admission.Create, "r/h/nic")
	o.refers = []graph.NodeID{"r/h/net/s1"}
	o.effects = escrow.Collect(escrow.Effect{Bucket: w.bucket(), Amount: 3})
	_ = w.submit("t", o.request("stranger"))
	l := NewLens(Policy{}, session("me"))
	v := (&Locals{}).View(l, w.state)
	objects := 0
	for n := range w.state.Graph().Nodes() {
		if n.Kind != graph.Facet {
			objects++
		}
	}
	if len(v.Nodes) != objects || v.Confined {
		t.Errorf("%d of %d objects", len(v.Nodes), objects)
	}
	holders := map[string]bool{}
	for _, h := range v.Locks {
		holders[h.By] = true
	}
	if d := cmp.Diff(map[string]bool{"stranger": true}, holders); d != "" {
		t.Error(d)
	}
	if b := v.Capacity[0]; *b.Used != 2 || *b.Reserved != 3 || b.Available != 5 || b.Limit != 10 {
		t.Errorf("%+v", b)
	}
	if !l.Touched(w.state, w.state, []admission.Event{admission.LeaseRenewed{}}) {
		t.Error("an open session is concerned by everything")
	}
}

// TestLocalsAreKept: what was written and read again goes on as it was.
func TestLocalsAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	_ = w.submit("a", change(admission.Update, "r/g/vm").request("me"))
	before := toJSON(t, w.local.View(w.lens, w.state))
	data, err := json.Marshal(w.local)
	if err != nil {
		t.Fatal(err)
	}
	var back Locals
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if after := toJSON(t, back.View(w.lens, w.state)); after != before {
		t.Error(cmp.Diff(before, after))
	}
	for _, l := range []*Locals{w.local, &back} {
		_ = w.submit("b", change(admission.Create, "r/g/vm/disk-2").request("me"))
		w.start("b")
		l.View(w.lens, w.state)
	}
	x, _ := json.Marshal(w.local.View(w.lens, w.state))
	y, _ := json.Marshal(back.View(w.lens, w.state))
	if string(x) != string(y) {
		t.Errorf("they went apart:\n%s\n%s", x, y)
	}
	for name, bad := range map[string]string{
		"null":       `null x`,
		"new field":  `{"nodes":[],"more":1}`,
		"id twice":   `{"nodes":[{"id":"a-1","node":"x","version":1},{"id":"a-1","node":"y","version":1}]}`,
		"node twice": `{"nodes":[{"id":"a-1","node":"x","version":1},{"id":"a-2","node":"x","version":1}]}`,
		"no id":      `{"nodes":[{"node":"x","version":1}]}`,
	} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if _, ok := back.Local("r/g/vm"); !ok {
		t.Error("a failed read forgot everything")
	}
}

// TestProjectionIsPure: it depends on the state and on nothing else, and leaves
// the state alone.
func TestProjectionIsPure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	_ = w.submit("a", change(admission.Update, "r/h/net/s1").request("pal"))
	hash := w.state.Hash()
	first := w.lens.Digest(w.state)
	for range 20 {
		if w.lens.Digest(w.state.Clone()) != first {
			t.Fatal("equal states, and other digests")
		}
	}
	w.report("a")
	w.local.View(w.lens, w.state)
	if w.state.Hash() != hash {
		t.Error("looking changed the state")
	}
}
