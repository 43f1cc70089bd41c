// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// TestFoldRefusesWrongStates: each decision about a transaction follows in some of
// its states, and in all others the journal is damaged.
func TestFoldRefusesWrongStates(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	reach := map[Status]func(id TxID, path graph.NodeID){
		Queued: func(id TxID, path graph.NodeID) {
			m.submit(id+"-holder", write("b", Update, path))
			m.submit(id, write("a", Update, path))
		},
		Admitted:  func(id TxID, path graph.NodeID) { m.submit(id, write("a", Update, path)) },
		Actioning: func(id TxID, path graph.NodeID) { m.submit(id, write("a", Update, path)); m.start(id) },
		Uncertain: func(id TxID, path graph.NodeID) { m.submit(id, write("a", Update, path)); m.finish(id, Lost, false) },
		Operational: func(id TxID, path graph.NodeID) {
			m.submit(id, write("a", Update, path))
			m.finish(id, Succeeded, true)
		},
		Failed: func(id TxID, path graph.NodeID) { m.submit(id, write("a", Update, path)); m.finish(id, Errored, true) },
		Withdrawn: func(id TxID, path graph.NodeID) {
			m.submit(id, write("a", Update, path))
			m.must(Withdraw{Stamp: m.tick(), Tx: id})
		},
		Rejected: func(id TxID, path graph.NodeID) {
			q := write("a", Update, path)
			q.Effects = escrow.Effects{{Bucket: "full", Amount: 1}}
			m.submit(id, q)
		},
		Stale: func(id TxID, path graph.NodeID) {
			m.submit(id+"-before", write("b", Update, path))
			m.finish(id+"-before", Succeeded, true)
			q := write("a", Update, path)
			q.Guards = []Guard{{Kind: Version, Node: path, Value: 9}}
			m.submit(id, q)
		},
	}
	m.must(Measure{Stamp: m.tick(), Session: "a", Began: m.Index(), Readings: []Reading{{Bucket: "full", Limit: escrow.At(1), Use: escrow.At(1)}}})
	for status, f := range reach {
		id := TxID("t-" + status)
		f(id, graph.NodeID("r/g/"+status))
		m.want(id, status)
	}
	for name, c := range map[string]struct {
		event func(TxID) Event
		in    []Status
	}{
		"queued":    {func(id TxID) Event { return TxQueued{Tx: id} }, []Status{Queued}},
		"admitted":  {func(id TxID) Event { return TxAdmitted{Tx: id, Token: 99} }, nil}, // the locks are held
		"passed":    {func(id TxID) Event { return TxPassed{Tx: id, Token: 99} }, []Status{Queued, Rejected, Stale}},
		"rejected":  {func(id TxID) Event { return TxRejected{Tx: id} }, []Status{Queued}},
		"stale":     {func(id TxID) Event { return TxStaled{Tx: id} }, []Status{Queued}},
		"started":   {func(id TxID) Event { return TxStarted{Tx: id} }, []Status{Admitted}},
		"uncertain": {func(id TxID) Event { return TxUncertain{Tx: id} }, []Status{Actioning}},
		"ended":     {func(id TxID) Event { return TxEnded{Tx: id, Status: Withdrawn} }, []Status{Queued, Admitted, Actioning, Uncertain}},
	} {
		for status := range reach {
			s := m.Clone()
			err := s.Fold(s.Index()+1, s.Now(), []Event{c.event(TxID("t-" + status))})
			if follows := slices.Contains(c.in, status); follows != (err == nil) || err != nil && !errors.Is(err, ErrReplay) {
				t.Errorf("%s behind %s: %v", name, status, err)
			}
		}
	}
}

func (m *machine) start(id TxID) {
	m.t.Helper()
	m.must(Start{Stamp: m.tick(), Tx: id, Token: m.txToken(id)})
}

// TestFoldRefusesACallOutOfOrder: a call cannot be sent before what its plan
// reserved for the calls ahead of it is settled, whatever a record says.
func TestFoldRefusesACallOutOfOrder(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	m.submit("p", replaceOf("a", "r/g/v", escrow.Effects{{Bucket: "q", Amount: 2}}))
	m.submit("d", planned(write("a", Delete, "r/g/v"), "p", "delete r/g/v"))
	m.want("d", Admitted)
	s := m.Clone()
	if err := s.escrow.Start("p", "delete r/g/v", s.index); err != nil {
		t.Fatal(err)
	}
	if err := s.Fold(s.Index()+1, s.Now()+1, []Event{TxStarted{Tx: "d", At: s.Now() + 1}}); !errors.Is(err, ErrReplay) {
		t.Errorf("a call that runs already: %v", err)
	}
	if err := m.Clone().Fold(m.Index()+1, m.Now()+1, []Event{TxStarted{Tx: "d", At: m.Now() + 1}}); err != nil {
		t.Errorf("without damage: %v", err)
	}
}

// TestDamagedSnapshots: what no state can have written is refused, each part of it
// by itself, and changes nothing.
func TestDamagedSnapshots(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	m.submit("p", replaceOf("a", "r/g/v", escrow.Effects{{Bucket: "q", Amount: 2}}))
	m.submit("d", planned(write("a", Delete, "r/g/v"), "p", "delete r/g/v"))
	m.must(Measure{Stamp: m.tick(), Session: "a", Began: m.Index(), Readings: []Reading{{Bucket: "q", Limit: escrow.At(7), Use: escrow.At(1)}}})
	saved, err := json.Marshal(m.State)
	if err != nil {
		t.Fatal(err)
	}
	digest := between(string(saved), `"digest":"`, `"`)
	for name, change := range map[string][2]string{
		"a short digest":     {`"digest":"` + digest, `"digest":"` + digest[2:]},
		"half a digit":       {`"digest":"` + digest, `"digest":"` + digest[1:]},
		"no digest":          {`"digest":"` + digest, `"digest":"`},
		"no hexadecimal":     {`"digest":"` + digest, `"digest":"` + "xy" + digest[2:]},
		"a phase too many":   {`"p":"pp"`, `"p":"ppp"`},
		"a phase too few":    {`"p":"pp"`, `"p":"p"`},
		"no phase":           {`"p":"pp"`, `"p":"pq"`},
		"phases of nobody":   {`"p":"pp"`, `"p":"pp","x":"p"`},
		"phases of a call":   {`"p":"pp"`, `"p":"pp","d":""`},
		"a limit of nothing": {`"limit":{"set":true,"value":7}`, `"limit":{"set":false,"value":7}`},
		"too large a limit":  {`"limit":{"set":true,"value":7}`, `"limit":{"set":true,"value":1099511627777}`},
		"use of less":        {`"low":1,"high":1`, `"low":2,"high":1`},
		"read in the future": {`"began":3,"at":4`, `"began":5,"at":4`},
	} {
		damaged := strings.Replace(string(saved), change[0], change[1], 1)
		if damaged == string(saved) {
			t.Fatalf("%s: %q not found in %s", name, change[0], saved)
		}
		before := m.Hash()
		if err := json.Unmarshal([]byte(damaged), m.State); err == nil || errors.Is(err, ErrNewer) {
			t.Errorf("%s: %v", name, err)
		}
		if m.Hash() != before {
			t.Fatalf("%s: the state changed", name)
		}
	}
	// What is only unknown is newer, wherever it stands.
	for _, object := range []string{"{\"format\"", "\"graph\":{\"", "\"capacity\":{\"", "\"tx\":{\""} {
		open := strings.Index(object, "{") + 1
		unknown := strings.Replace(string(saved), object, object[:open]+`"weather":1,`+object[open:], 1)
		if err := json.Unmarshal([]byte(unknown), m.State); !errors.Is(err, ErrNewer) {
			t.Errorf("behind %s: %v", object[:open], err)
		}
	}
}

// between is the first text between two others.
func between(s, left, right string) string {
	_, s, _ = strings.Cut(s, left)
	s, _, _ = strings.Cut(s, right)
	return s
}
