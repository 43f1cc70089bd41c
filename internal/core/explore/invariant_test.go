// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// bench is a world and a state of the core to doctor: two runs that write one
// network, one that makes a subnet twice over, and a replace.
type bench struct {
	c *Config
	w world
	n *node
	k *core
}

func newBench(t *testing.T) *bench {
	t.Helper()
	c := scenario("bench", 3, 1, []admission.Policy{admission.Queue, admission.Queue}, "s0 change-net", "s1 make-s2", "s0 make-s2", "s1 drop-s1")
	c.Capacity, c.Limits = true, [buckets]int8{2, 2}
	c.Ops[1].Effects[0] = 1
	c.Ops[1].Group, c.Ops[3].Group = 1, 1
	c.prepare()
	k := newCore(c, newCoverage(1), 1)
	at, _, err := k.begin()
	if err != nil {
		t.Fatal(err)
	}
	return &bench{c: c, w: newWorld(c, at), n: k.nodes[at], k: k}
}

// running puts an operation into the cloud, as the core knows.
func (b *bench) running(i int) {
	b.n.status[i] = actioning
	b.n.holds |= 1 << i
	b.w.ops[i] = op{phase: calling, effect: flying}
}

// about lets an operation be one that is about to be sent.
func (b *bench) about(i int) {
	b.n.status[i] = actioning
	b.n.holds |= 1 << i
	b.w.ops[i] = op{phase: started}
}

// timeless accepts the past, and is never settled.
type timeless struct{}

func (timeless) Now() int64                                         { return 1 }
func (timeless) Apply(admission.Command) ([]admission.Event, error) { return nil, nil }
func (timeless) Settled() bool                                      { return false }

// doctored are states in which each invariant is broken, by the check that has
// to notice. What a check needs of the core beyond that is real.
var doctored = []struct {
	invariant string
	check     func(*bench) error
}{
	{"I1 CompatibleHolders", func(*bench) error {
		return orNil(checkCompatible("r", []lock.Holder{{Owner: "a", Mode: mode.X}, {Owner: "b", Mode: mode.IS}}))
	}},
	{"I2 NoProviderOverlap", func(b *bench) error {
		b.about(0)
		b.running(3)
		return orNil(checkSend(b.c, &b.w, b.n, 0))
	}},
	{"I3 AncestorsIntended", func(*bench) error {
		t := lock.NewTable()
		if err := t.Acquire("a", lock.Plan{{Node: "r/g", Mode: mode.X}}); err != nil {
			return err
		}
		return orNil(checkAncestors(t, "r/g", t.Holders("r/g"), func(graph.NodeID) (graph.NodeID, bool) { return "r", true }))
	}},
	{"I4 AllOrNothing", func(*bench) error {
		return orNil(checkHolding(&admission.Tx{Status: admission.Queued}, 1, 3))
	}},
	{"I5 EscrowSup", func(b *bench) error {
		b.w.use[0], b.n.sup[0] = 2, 3
		b.running(1)
		return orNil(checkUse(b.c, &b.w, b.n))
	}},
	{"I6 EscrowInf", func(b *bench) error {
		b.w.use[0], b.n.inf[0], b.n.sup[0] = 0, 1, 1
		return orNil(checkWorld(b.c, &b.w, b.n))
	}},
	{"I7 SumsAgree", func(*bench) error {
		return orNil(checkSum(escrow.Level{Plus: 2}, []escrow.Share{{Plus: 1}}))
	}},
	{"I8 NoRunningWithoutLock", func(b *bench) error {
		b.running(0)
		b.n.holds = 0
		return orNil(checkWorld(b.c, &b.w, b.n))
	}},
	{"I9 StartBeforeSend", func(b *bench) error {
		b.about(0)
		b.n.status[0] = admitted
		return orNil(checkSend(b.c, &b.w, b.n, 0))
	}},
	{"I10 TokenMonotone", func(*bench) error { return orNil(checkToken("t0", 3, 3)) }},
	{"I11 FIFO", func(b *bench) error {
		return orNil(checkReport(b.c, &b.w, b.n, b.n, &report{over: []passing{{0, 1}}}))
	}},
	{"I12 Progress", func(b *bench) error {
		b.n.waiting = 1
		return orNil(checkSink(b.c, &b.w, b.n))
	}},
	{"I13 NoLostWakeup", func(*bench) error { return orNil(checkSettled(timeless{})) }},
	{"I14 ReplayEqual", func(b *bench) error {
		before := b.n.state.Clone()
		c := b.n.commands(b.c, command{verb: cSubmit, who: 3})[0]
		next := &node{state: b.n.state.Clone()}
		events, err := next.state.Apply(c)
		if err != nil {
			return err
		}
		next.hash = next.state.Hash()
		return orNil(checkReplay(before, next, c, events[:len(events)-1], false))
	}},
	{"I15 FencedLeader", func(b *bench) error {
		b.c.holes.unfenced = true
		_, err := b.k.move(&b.w, move{mFenced, 0})
		return err
	}},
	{"I16 ViewConfinement", func(b *bench) error {
		b.c.Views = true
		after := b.n.state.Clone()
		if _, err := after.Apply(b.n.commands(b.c, command{verb: cSubmit, who: 3})[0]); err != nil {
			return err
		}
		return orNil(checkViews(lenses(b.c), b.n.state, after, nil))
	}},
	{"I17 Attribution", func(b *bench) error { return orNil(checkAttribution(b.n, "t0", nil)) }},
	{"I18 UncertainKept", func(b *bench) error {
		b.running(0)
		return orNil(checkFate(b.n, "t0", command{verb: cExpire}))
	}},
	{"I19 NameUnique", func(b *bench) error {
		b.about(1)
		b.running(2)
		return orNil(checkSend(b.c, &b.w, b.n, 1))
	}},
	{"I20 VersionGuard", func(b *bench) error {
		b.about(0)
		b.w.ops[0].flags = fMoved
		return orNil(checkSend(b.c, &b.w, b.n, 0))
	}},
	{"I21 IntentAtomic", func(b *bench) error {
		b.about(0)
		b.w.ops[3].effect = landed
		return orNil(checkSend(b.c, &b.w, b.n, 0))
	}},
	{"I22 WaitForAcyclic", func(*bench) error {
		return orNil(checkAcyclic([maxOps + maxSessions]uint16{2, 4, 1}))
	}},
	{"I23 OwnFreesKept", func(b *bench) error {
		b.c.Sessions[1].Reserve = true
		return orNil(checkRefusal(b.c, &b.w, 1, []admission.Blocker{{Capacity: &admission.Shortage{}}}))
	}},
	{"I24 ObservationOrder", func(b *bench) error {
		b.n.object[1] = absent
		return orNil(checkWorld(b.c, &b.w, b.n))
	}},
	{"I25 NoEffectAfterSettle", func(b *bench) error {
		b.running(0)
		b.n.status[0] = failed
		return orNil(checkLand(b.c, &b.w, b.n, 0))
	}},
	{"I26 DrawWithinReservation", func(b *bench) error {
		b.c.Sessions[1].Reserve = true
		return orNil(checkRefusal(b.c, &b.w, 1, []admission.Blocker{{Exceeded: true}}))
	}},
	{"I27 SameKeySameAnswer", func(*bench) error {
		p := &probes[len(probes)-1]
		return orNil(p.judge(&admission.Tx{Status: admission.Queued}, admission.Queued, nil, admission.ErrDuplicate))
	}},
	{"I28 TimeMonotone", func(*bench) error { return orNil(checkPast(timeless{})) }},
}

func orNil(v *Violation) error {
	if v == nil {
		return nil
	}
	return v
}

// TestEveryInvariantHasACheckThatFires: each of the invariants of the protocol is
// judged by a check that notices when it does not hold, and is silent about the
// same bench undoctored.
func TestEveryInvariantHasACheckThatFires(t *testing.T) {
	t.Parallel()
	for i, d := range doctored {
		if number, _, _ := strings.Cut(d.invariant, " "); number != fmt.Sprintf("I%d", i+1) {
			t.Errorf("%s stands at place %d", d.invariant, i+1)
		}
		t.Run(d.invariant, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if v := checkWorld(b.c, &b.w, b.n); v != nil {
				t.Fatalf("undoctored: %v", v)
			}
			var v *Violation
			if err := d.check(b); !errors.As(err, &v) || v.Invariant != d.invariant {
				t.Errorf("got %v", err)
			}
		})
	}
	if len(doctored) != 28 {
		t.Errorf("%d invariants", len(doctored))
	}
}
