// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// planOfSize is the reservation of a plan that creates so many objects in layers
// of 50, each after two of the layer before. Every tenth takes of one of ten
// quotas; one in thirty is a replace, the old object first.
func planOfSize(objects int) Request {
	q := Request{Session: "a", Action: Reserve}
	name := func(verb string, i int) CallID { return CallID(fmt.Sprintf("%s simcloud_machine.x[%05d]", verb, i)) }
	placed := map[graph.NodeID]bool{}
	for i := range objects {
		c := Planned{ID: name("create", i), Self: pathOf(i), Action: Create, Address: fmt.Sprintf("simcloud_machine.x[%05d]", i)}
		c.Locks = write("a", Create, c.Self).Locks
		for _, d := range place(c.Self) {
			if !placed[d.ID] {
				placed[d.ID] = true
				q.Nodes = append(q.Nodes, d)
			}
		}
		if i >= 50 {
			c.After = []CallID{name("create", i-50), name("create", i-49)}
		}
		if i%10 == 0 {
			c.Effects = escrow.Collect(escrow.Effect{Bucket: escrow.Key(fmt.Sprintf("quota%d", i/10%10)), Amount: 2})
		}
		if i%30 == 0 {
			old := Planned{ID: name("delete", i), Self: c.Self, Action: Delete, Group: c.Address, Locks: c.Locks, Address: c.Address}
			old.Effects = escrow.Collect(escrow.Effect{Bucket: c.Effects[0].Bucket, Amount: -1})
			c.Group, c.After = c.Address, append(c.After, old.ID)
			q.Calls = append(q.Calls, old)
		}
		q.Calls = append(q.Calls, c)
	}
	slices.SortFunc(q.Calls, func(a, b Planned) int { return cmp.Compare(a.ID, b.ID) })
	return q
}

// reserved is a machine with ten quotas and a plan.
func reserved(b *testing.B, objects int) *State {
	b.Helper()
	s := New()
	m := Measure{Stamp: Stamp{Now: 2}, Session: "a"}
	for i := range 10 {
		m.Readings = append(m.Readings, Reading{Bucket: escrow.Key(fmt.Sprintf("quota%d", i)), Limit: escrow.At(5000), Use: escrow.At(200)})
	}
	for _, c := range []Command{
		openCommand(Stamp{Now: 1}, "a"), m, Submit{Stamp: Stamp{Now: 3}, ID: "p", Request: planOfSize(objects)},
	} {
		if _, err := s.Apply(c); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// BenchmarkReserve is the reservation of a large plan, and how large its record
// becomes.
func BenchmarkReserve(b *testing.B) {
	for _, n := range []int{300, 3000} {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				reserved(b, n)
			}
			s := reserved(b, n)
			tx, _ := s.Tx("p")
			c := Submit{Stamp: Stamp{Now: 3}, ID: "p", Request: planOfSize(n)}
			data, err := EncodeRecord(Record{Index: 3, Now: 3, Command: c, Events: []Event{TxSubmitted{Tx: tx}}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(data)), "B/record")
		})
	}
}

// BenchmarkPlannedCalls is all calls of a large plan, one after the other.
func BenchmarkPlannedCalls(b *testing.B) {
	for _, n := range []int{300, 3000} {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			calls := 0
			for b.Loop() {
				b.StopTimer()
				s := reserved(b, n)
				b.StartTimer()
				calls += carryOut(b, s)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(calls), "ns/call")
		})
	}
}

// carryOut sends all calls of a plan in its order.
func carryOut(b *testing.B, s *State) (sent int) {
	b.Helper()
	p, _ := s.Tx("p")
	byID := map[CallID]Planned{}
	for _, c := range p.Calls {
		byID[c.ID] = c
	}
	done := map[CallID]bool{}
	var send func(c Planned)
	send = func(c Planned) {
		if done[c.ID] {
			return
		}
		done[c.ID] = true
		for _, a := range c.After {
			send(byID[a])
		}
		q := write("a", c.Action, c.Self)
		q.Effects, q.Plan, q.Call = c.Effects, "p", c.ID
		operate(b, s, sent, q)
		sent++
	}
	for _, c := range p.Calls {
		send(c)
	}
	return sent
}

// BenchmarkPlannedCrowd is one undisturbed operation beside a plan all of whose
// calls wait for other runs, the first calls of replaces among them.
func BenchmarkPlannedCrowd(b *testing.B) {
	s := reserved(b, 1000)
	if _, err := s.Apply(openCommand(Stamp{Now: s.Now() + 1}, "b")); err != nil {
		b.Fatal(err)
	}
	submit := func(id string, q Request) {
		if _, err := s.Apply(Submit{Stamp: Stamp{Now: s.Now() + 1}, ID: TxID(id), Request: q}); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 100 {
		submit(fmt.Sprintf("h%d", i), write("b", Update, pathOf(i)[:len("r/g000")]))
	}
	p, _ := s.Tx("p")
	for i, c := range p.Calls {
		q := write("a", c.Action, c.Self)
		q.Effects, q.Plan, q.Call = c.Effects, "p", c.ID
		submit(fmt.Sprintf("w%d", i), q)
	}
	if n := len(s.Waiting()); n != len(p.Calls) {
		b.Fatalf("%d wait", n)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		operate(b, s, i, write("b", Update, "r/elsewhere/x"))
	}
}
