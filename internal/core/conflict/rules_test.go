// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// TestDecisions: a refusal asks for a new plan if any of its reasons does, whichever
// that is; and a session was killed if it ended without saying so.
func TestDecisions(t *testing.T) {
	t.Parallel()
	again, never := admission.Blocker{Replan: true}, admission.Blocker{}
	for _, c := range []struct {
		status admission.Status
		why    []admission.Blocker
		want   Decision
	}{
		{admission.Rejected, []admission.Blocker{never, never, again}, Replan},
		{admission.Rejected, []admission.Blocker{again, never}, Replan},
		{admission.Rejected, []admission.Blocker{never, never}, Reject},
		{admission.Rejected, nil, Reject},
		{admission.Stale, []admission.Blocker{never}, Replan},
		{admission.Queued, []admission.Blocker{again}, Wait},
		{admission.Admitted, []admission.Blocker{again}, ""},
	} {
		if got := decision(c.status, c.why); got != c.want {
			t.Errorf("%s with %v: %q", c.status, c.why, got)
		}
	}
	for how, want := range map[string]bool{"": false, "closed": false, "expired": true, "died": true} {
		if killed(admission.Session{Ended: how}) != want {
			t.Errorf("ended as %q", how)
		}
	}
}

// TestAges: what has not happened yet, or nobody knows when, has no age.
func TestAges(t *testing.T) {
	t.Parallel()
	b := builder{now: 100 * second}
	for at, want := range map[int64]float64{0: 0, 1: 100, 99 * second: 1, 100 * second: 0, 101 * second: 0, 100*second - 1500_000: 0.002} {
		if got := b.age(at); got != want {
			t.Errorf("since %d: %v, want %v", at, got, want)
		}
	}
	for age, want := range map[float64]string{0: "", 9.9: "", 10: " That was 10 s ago.", 61: " That was 1 min ago."} {
		if got := past(Report{Decision: Reject, Age: age}); got != want {
			t.Errorf("%v: %q", age, got)
		}
		if got := past(Report{Decision: Wait, Age: age}); got != "" {
			t.Errorf("a wait goes on: %q", got)
		}
	}
}

// TestHolders: the side in the way has a lease as long as it lives, and did to an
// object only what it did itself.
func TestHolders(t *testing.T) {
	t.Parallel()
	s := tell(t, admission.Queue)
	s.submit("t-1", network("web-3", admission.Create), own(vnet))
	s.start("t-1")
	s.end("t-1", admission.Succeeded, true)
	s.submit("t-2", network("net-7", admission.Update), own(vnet))
	b := builder{s: s.State, now: s.Now()}
	lives := b.holder(admission.Blocker{HolderSession: "net-7", FactNode: vnet})
	if lives.LeaseExpires == "" || lives.State != Ended || lives.Action != "" || lives.Since != "" {
		t.Errorf("%+v", lives)
	}
	if made := b.holder(admission.Blocker{HolderSession: "web-3", FactNode: vnet}); made.Action != "create" || made.Since == "" || made.Result != "operational" {
		t.Errorf("%+v", made)
	}
	s.do(admission.CloseSession{Stamp: s.at(), Session: "net-7"})
	if left := b.holder(admission.Blocker{HolderSession: "net-7"}); left.LeaseExpires != "" || left.Actor != "alice" || left.Dead {
		t.Errorf("%+v", left)
	}
	s.do(admission.Deceased{Stamp: s.at(), Session: "net-7"})
	if left := b.holder(admission.Blocker{HolderSession: "net-7"}); !left.Dead {
		t.Errorf("%+v", left)
	}
	if nobody := b.holder(admission.Blocker{}); nobody != nil {
		t.Errorf("%+v", nobody)
	}
}

// TestForemost: who is told of first: whoever is at it, who has promised it, who
// waits for it, what nobody knows the owner of, and last oneself.
func TestForemost(t *testing.T) {
	t.Parallel()
	r := Report{Requester: Party{Session: "me", State: "mine"}}
	order := []Conflict{
		{Holder: &Holder{Session: "me", State: Running}},
		{},
		{Holder: &Holder{Session: "x", State: Waiting}},
		{Holder: &Holder{Session: "x", State: Declared}},
		{Holder: &Holder{Session: "x", State: Running}},
	}
	for i := range order {
		for j := range order {
			if got := weight(r, &order[i]) > weight(r, &order[j]); got != (i > j) {
				t.Errorf("%+v before %+v: %t", order[i].Holder, order[j].Holder, got)
			}
		}
	}
	for state, want := range map[string]bool{"mine": true, "theirs": false, "": false} {
		c := Conflict{Fact: &Fact{State: state}}
		if ours(r, c) != want || ours(Report{}, c) {
			t.Errorf("of state %q", state)
		}
	}
}

// TestEachOnce: whoever is in the way twice is named once, and what is settled by
// hand is advised once; who is hidden is not named at all.
func TestEachOnce(t *testing.T) {
	t.Parallel()
	lost := func(tx, actor string) Conflict {
		return Conflict{Holder: &Holder{Session: "s-" + actor, Tx: tx, Actor: actor, State: Uncertain}}
	}
	hidden := lost("t-4", "dora")
	hidden.Holder.Redacted = true
	r := Report{
		Requester: Party{Session: "me"}, Decision: Wait,
		Conflicts: []Conflict{lost("t-1", "ann"), lost("t-2", "ben"), lost("t-2", "ben"), lost("t-3", "ben"), hidden},
	}
	if got := strings.Join(others(r, &r.Conflicts[0]), " "); got != "ben ben another session" {
		t.Errorf("others: %s", got)
	}
	if got := strings.Join(owners(r), " "); got != "ann ben" {
		t.Errorf("owners: %s", got)
	}
	var settled []string
	for _, a := range advise(r, "me") {
		if rest, ok := strings.CutPrefix(a.Command, "tfweaver resolve "); ok {
			settled = append(settled, rest[:3])
		}
	}
	if got := strings.Join(settled, " "); got != "t-1 t-1 t-2 t-2 t-3 t-3 t-4 t-4" {
		t.Errorf("settle %s", got)
	}
}

// TestWhatNeverFits: more than the limit is too much for ever, and as much as it
// only for now.
func TestWhatNeverFits(t *testing.T) {
	t.Parallel()
	for asked, want := range map[int64]string{4: "run it again", 5: "run it again", 6: "ask for less"} {
		r := Report{Decision: Reject, Conflicts: []Conflict{{Capacity: &Capacity{Bucket: "cores", Limit: 5, Asked: asked, Hopeless: true}}}}
		got, next := revision(r), step(r)
		if !strings.Contains(got, want) || strings.Contains(next, "ask for less") != (asked > 5) {
			t.Errorf("%d of 5: %s; %s", asked, got, next)
		}
	}
}

// TestNoControls: nothing of what others call things gets a terminal to do
// anything.
func TestNoControls(t *testing.T) {
	t.Parallel()
	for r := rune(0); r < 0xa0; r++ {
		control := r < ' ' || r >= 0x7f
		if got := clean(string(r)); (got == " ") != (control || r == ' ') {
			t.Errorf("%U becomes %q", r, got)
		}
	}
	if got := clean("\u00a0é…"); got != "\u00a0é…" {
		t.Errorf("%q", got)
	}
}

// TestClaimedPlans: who holds a whole plan is at a plan, who holds a replace at
// that.
func TestClaimedPlans(t *testing.T) {
	t.Parallel()
	s := tell(t, admission.Queue)
	q := replace("net-7")
	q.Whole = true
	s.submitAt("p", q)
	claims := s.Claims()
	if len(claims) != 1 {
		t.Fatalf("%+v", claims)
	}
	b := builder{s: s.State, now: s.Now()}
	w := admission.Blocker{HolderSession: "net-7", Holder: "p", Claim: claims[0].ID, Node: graph.NodeID(vnet)}
	if h := b.holder(w); h.Action != "plan" || !h.Claim || h.State != Running {
		t.Errorf("%+v", h)
	}
}
