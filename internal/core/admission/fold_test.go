// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// TestFoldTakesOverDecisions: a replay believes the decisions of whoever made
// them, also those that this program would not make. Another version may have had
// other reasons, and what it decided has happened.
func TestFoldTakesOverDecisions(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	m.submit("t1", write("a", Update, "r/g/v"))
	m.must(declareOf(m.tick(), "a", []string{"r/g/w"}))
	ticket := m.ticket
	fold := func(events ...Event) {
		t.Helper()
		if err := m.Fold(m.Index()+1, m.Now()+1, events); err != nil {
			t.Fatal(err)
		}
	}
	submitted := func(id TxID, q Request) TxSubmitted {
		ticket++
		q.Intent = IntentID("intent of " + string(q.Session))
		return TxSubmitted{Tx: Tx{ID: id, Request: q, Ticket: ticket, Status: Queued, SubmittedAt: m.Now()}}
	}
	why := []Blocker{{Node: "r", Relation: "rule", Rule: "of another version", HolderSession: "a"}}

	// Refused although everything is free.
	fold(submitted("refused", write("b", Update, "r/g")), TxRejected{Tx: "refused", At: 7, Blockers: why})
	m.want("refused", Rejected)
	// Waits, for a reason that we know nothing of.
	fold(submitted("waits", write("b", Update, "r/g/v")), TxQueued{Tx: "waits", Blockers: why})
	m.want("waits", Queued)
	// Granted past a waiter, by a token that left some out, against its guard.
	q := write("b", Update, "r/g/w")
	q.Guards = []Guard{{Kind: SameLife, Node: "r/g/w", Value: 9}}
	fold(submitted("granted", q), TxAdmitted{Tx: "granted", Token: 100, At: 8})
	m.want("granted", Admitted)

	for id, want := range map[TxID][]Blocker{"refused": why, "waits": why, "granted": nil} {
		tx, _ := m.Tx(id)
		if d := cmp.Diff(want, tx.Blockers); d != "" {
			t.Errorf("%s has other reasons than it was given:\n%s", id, d)
		}
	}
	if tx, _ := m.Tx("granted"); tx.Token != 100 || tx.AdmittedAt != 8 {
		t.Errorf("granted under token %d at %d", tx.Token, tx.AdmittedAt)
	}
	if tx, _ := m.Tx("refused"); tx.EndedAt != 7 {
		t.Errorf("refused at %d", tx.EndedAt)
	}
	// A call that found nothing, and left something all the same.
	fold(TxStarted{Tx: "granted", At: 9}, TxEnded{Tx: "granted", At: 10, Status: Failed, Exists: true, Settled: true, Cause: "theirs"})
	tx, _ := m.Tx("granted")
	if n, _ := m.Graph().Get("r/g/w"); tx.Cause != "theirs" || !tx.Exists || n.Lifecycle != graph.Failed {
		t.Errorf("%+v of %+v", tx, n)
	}
	// And the next decision of ours follows from all that.
	m.must(Start{Stamp: m.tick(), Tx: "t1", Token: m.txToken("t1")})
	m.must(Complete{Stamp: m.tick(), Tx: "t1", Token: m.txToken("t1"), Result: Succeeded})
	if m.want("waits", Admitted); m.txToken("waits") != 101 {
		t.Errorf("the next token is %d", m.txToken("waits"))
	}
}

func (m *machine) txToken(id TxID) uint64 {
	tx, _ := m.Tx(id)
	return tx.Token
}

// TestFingerprintKeepsTheOrder: of tickets, tokens, times and indexes a fingerprint
// keeps which come first, and none of the numbers.
func TestFingerprintKeepsTheOrder(t *testing.T) {
	t.Parallel()
	told := func(first, second uint64, at int64) *State {
		m := newMachine(t, "a", "b")
		m.must(declareOf(m.tick(), "a", []string{"r/g/v", "r/g/w"}))
		for range at {
			m.must(Renew{Stamp: m.tick(), Session: "a"})
		}
		m.must(Measure{Stamp: m.tick(), Session: "a", Began: m.Index(), Readings: []Reading{{Bucket: "q", Use: escrow.At(1)}}})
		q, p := write("a", Update, "r/g/v"), write("b", Update, "r/g/w")
		q.Intent, p.Intent = "intent of a", "intent of b"
		p.Effects = escrow.Effects{{Bucket: "q", Amount: 1}}
		err := m.Fold(m.Index()+1, m.Now()+at, []Event{
			TxSubmitted{Tx: Tx{ID: "t1", Request: q, Ticket: first, Status: Queued, SubmittedAt: at}},
			TxSubmitted{Tx: Tx{ID: "t2", Request: p, Ticket: second, Status: Queued, SubmittedAt: at}},
			TxAdmitted{Tx: "t1", Token: first, At: at},
			TxAdmitted{Tx: "t2", Token: first + 7*second, At: at + 1},
			TxStarted{Tx: "t2", At: at + 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		return m.State
	}
	base, scaled, swapped := told(1, 2, 5), told(30, 70, 90), told(2, 1, 5)
	if base.Fingerprint() != scaled.Fingerprint() {
		t.Error("the fingerprint depends on numbers")
	}
	if base.Fingerprint() == swapped.Fingerprint() {
		t.Error("the fingerprint does not depend on who came first")
	}
	if base.Hash() == scaled.Hash() {
		t.Error("the hash does not depend on numbers")
	}
}
