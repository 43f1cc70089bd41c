// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

func loaded(t *testing.T) *Rules {
	t.Helper()
	rules, err := LoadRules()
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func play(t *testing.T, s Scene, strategy Strategy, rules *Rules, seed uint64) Result {
	t.Helper()
	r, err := Play(t.Context(), s, strategy, rules, seed)
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	return r
}

// TestTheCoordinatorReachesItsBar: nobody waits for anything but calls that truly
// exclude his, and no call is wasted.
func TestTheCoordinatorReachesItsBar(t *testing.T) {
	t.Parallel()
	rules := loaded(t)
	for _, w := range Workloads() {
		for _, n := range []int{1, 2, 5, 12} {
			r := play(t, w.Build(n, 2), Coordinated, rules, 2)
			if !r.Met() {
				t.Errorf("%s, %d sessions: makespan %.3f s of %.3f s by ticket and %.3f s as served, %d wasted, %d broken",
					w.Name, n, r.Makespan, r.TicketPath, r.ServedPath, r.Wasted, r.Broken)
			}
			if r.Makespan < r.LowerBound-1e-6 || r.Optimal > 0 && r.Makespan < r.Optimal-1e-6 {
				t.Errorf("%s, %d sessions: makespan %.3f s is below what is possible, %.3f s or %.3f s", w.Name, n, r.Makespan, r.LowerBound, r.Optimal)
			}
			if w.Sharing != ShortQuota && (r.Done != r.Calls || r.Rejections != 0) {
				t.Errorf("%s, %d sessions: %d of %d calls done, %d refused", w.Name, n, r.Done, r.Calls, r.Rejections)
			}
		}
	}
}

// TestWrongLocksAreFound: lock plans that are too wide cost time, and those that
// are too narrow cost calls. Both miss the bar, or it would prove nothing.
func TestWrongLocksAreFound(t *testing.T) {
	t.Parallel()
	w := Workload{Name: "network", Sharing: Network, Percent: 100}
	wide := loaded(t)
	wide.alter = func(q *admission.Request) {
		for i := range q.Locks {
			// Everything of the account excludes everything else.
			if q.Locks[i].Relation == lock.Ancestor && q.Nodes[0].ID == q.Locks[i].Node {
				q.Locks[i].Mode, q.Locks[i].Relation = mode.X, lock.Rule
			}
		}
	}
	if r := play(t, w.Build(4, 1), Coordinated, wide, 1); r.Met() || r.Ratio < 1.5 || r.Wasted != 0 {
		t.Errorf("too wide: %.3f and %.3f of the paths, %d wasted", r.Ratio, r.RatioServed, r.Wasted)
	}
	narrow := loaded(t)
	narrow.alter = func(q *admission.Request) {
		q.Locks = slices.DeleteFunc(q.Locks, func(want lock.Want) bool {
			return strings.Contains(string(want.Node), "~slot")
		})
	}
	if r := play(t, w.Build(4, 1), Coordinated, narrow, 1); r.Met() || r.Wasted == 0 {
		t.Errorf("too narrow: %.3f and %.3f of the paths, %d wasted", r.Ratio, r.RatioServed, r.Wasted)
	}
}

// TestWhoeverCannotFitIsToldBeforeItsFirstCall: there is enough for exactly those
// for whom there is when each takes his share in turn.
func TestWhoeverCannotFitIsToldBeforeItsFirstCall(t *testing.T) {
	t.Parallel()
	w := Workload{Name: "short", Sharing: ShortQuota, Percent: 100}
	s := w.Build(12, 1)
	r := play(t, s, Coordinated, loaded(t), 1)
	want := 12 - len(shares(s.needs(), s.Quotas[bounded]))
	if r.Refused != want || want == 0 || r.Broken != 0 || r.Wasted != 0 {
		t.Errorf("%d refused, want %d; %d broken, %d calls wasted", r.Refused, want, r.Broken, r.Wasted)
	}
	if plain := play(t, s, Uncoordinated, nil, 1); plain.Broken == 0 || plain.Wasted == 0 {
		t.Errorf("uncoordinated, %d are broken and %d calls wasted", plain.Broken, plain.Wasted)
	}
}

// TestTheOthersPay is the control: without a coordinator calls are wasted or time
// is.
func TestTheOthersPay(t *testing.T) {
	t.Parallel()
	s := Workload{Name: "network", Sharing: Network, Percent: 100}.Build(12, 1)
	woven := play(t, s, Coordinated, loaded(t), 1)
	plain := play(t, s, Uncoordinated, nil, 1)
	if plain.Wasted < 100 || plain.Makespan <= woven.Makespan {
		t.Errorf("uncoordinated %d calls are wasted in %.1f s; coordinated it takes %.1f s", plain.Wasted, plain.Makespan, woven.Makespan)
	}
	for _, strategy := range []Strategy{Serial, GroupLock} {
		if r := play(t, s, strategy, nil, 1); r.Makespan < 1.5*woven.Makespan || r.Done != r.Calls {
			t.Errorf("%s takes %.1f s, coordinated %.1f s; %d of %d calls done", strategy, r.Makespan, woven.Makespan, r.Done, r.Calls)
		}
	}
	if gave := play(t, Workload{Sharing: Network, Percent: 100}.Build(40, 1), Uncoordinated, nil, 1); gave.GaveUp == 0 || gave.Broken == 0 {
		t.Errorf("forty sessions on one network: %d calls given up, %d sessions broken", gave.GaveUp, gave.Broken)
	}
}

// TestTheHandedOverNeedsACoordinator: who needs what another one is about to make
// waits for it, and is refused by the cloud where nobody makes him wait.
func TestTheHandedOverNeedsACoordinator(t *testing.T) {
	t.Parallel()
	s := Workload{Sharing: Handover, Percent: 50}.Build(6, 1)
	if r := play(t, s, Uncoordinated, nil, 1); r.Broken != 3 {
		t.Errorf("%d of 6 are broken", r.Broken)
	}
}

func TestOneSeedIsOneResult(t *testing.T) {
	t.Parallel()
	rules := loaded(t)
	s := Workloads()[2].Build(8, 7)
	for _, strategy := range Strategies() {
		first, again := play(t, s, strategy, rules, 7), play(t, s, strategy, rules, 7)
		if diff := cmp.Diff(first, again, cmpopts.IgnoreFields(Result{}, "CPUMicros")); diff != "" {
			t.Errorf("%s twice (-first +again):\n%s", strategy, diff)
		}
		if other := play(t, s, strategy, rules, 8); other.Makespan == first.Makespan {
			t.Errorf("%s: another seed gives the same makespan, %.3f s", strategy, other.Makespan)
		}
	}
}

// TestThePapersTrace gives the paper's figures to the hundredth.
func TestThePapersTrace(t *testing.T) {
	t.Parallel()
	rules := loaded(t)
	for _, f := range PaperFigures() {
		r := play(t, Trace(), f.Strategy, rules, 0)
		if diff := r.Makespan - f.Makespan; diff > 1e-6 || diff < -1e-6 || r.Done != f.Succeeded {
			t.Errorf("%s: %.3f s and %d calls, in the paper %.2f s and %d", f.Strategy, r.Makespan, r.Done, f.Makespan, f.Succeeded)
		}
	}
}

// TestAPlayEndsWithItsContext: a thousand sessions are not waited for.
func TestAPlayEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Play(ctx, Workloads()[0].Build(5, 1), Serial, nil, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
