// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// compareEvery is how many appends go by between two comparisons of a leader's
// state with the ledger's.
const compareEvery = 40

// lookEvery is how many appends go by between two looks at the queue.
const lookEvery = 3

// appended judges a leader after an append: its state is what its records say.
func (j *judge) appended(s *server) {
	j.w.appends++
	if j.w.appends%compareEvery == 0 {
		j.same(s, "after an append")
	}
	if j.w.appends%lookEvery == 0 {
		j.forgotten(s.state)
	}
}

// forgotten judges that whoever waits, waits for something (I13): a wake-up that
// was lost would show in nothing else, as long as others go on.
func (j *judge) forgotten(st *admission.State) {
	for _, id := range st.Waiting() {
		if len(st.Blockers(id)) == 0 {
			j.w.fail("%s waits for nothing", id)
		}
	}
}

// loaded judges a leader that has just loaded: nothing durable is missing, and the
// snapshot with what came after it gives the state that all records give.
func (j *judge) loaded(s *server) {
	j.w.restarts++
	if s.last != j.w.ledger.last() {
		j.w.fail("%s loaded %d records of %d", s.name, s.last, j.w.ledger.last())
		return
	}
	j.same(s, "after a restart")
}

// crashed judges the state that is lost in a crash, if it was not ahead.
func (j *judge) crashed(s *server) {
	if s.role == leading && !s.busy && s.last == j.w.ledger.last() {
		j.same(s, "before a crash")
	}
}

func (j *judge) same(s *server, when string) {
	if s.state.Hash() != j.w.ledger.state.Hash() {
		j.w.fail("%s, %s at record %d: memory and replay differ", s.name, when, s.last)
	}
}

// expectations of the end, when nothing goes wrong any more.
const (
	// patienceAtTheEnd is for how long everything that lives may go on until all
	// runs have ended and all calls are settled: longer than the patience of a run
	// and the time-out of the rules together.
	patienceAtTheEnd = 4 * time.Hour
)

// leftOver is what is not as it should be when everything has ended; empty when
// it is.
func (j *judge) leftOver() string {
	st := j.w.ledger.state
	if n := len(st.Waiting()); n > 0 {
		return "the queue is not empty"
	}
	if n := len(st.Claims()); n > 0 {
		return "a claim is left"
	}
	if n := len(st.Locks().Owners()); n > 0 {
		return "a lock is left"
	}
	for _, tx := range st.Transactions() {
		if !tx.Status.Final() {
			return string(tx.ID) + " is still " + string(tx.Status)
		}
	}
	for _, k := range st.Capacity().Buckets() {
		if l := st.Capacity().Level(k); l.Plus != 0 || l.Minus != 0 {
			return "capacity of " + string(k) + " is still reserved"
		}
	}
	return ""
}

// replayed judges the journal at the end: all its records are those of the
// ledger.
func (j *judge) replayed(s *server) {
	first := journal.Index(0)
	for r, err := range s.disk.Journal.Read(j.w.ctx, s.oldest()) {
		if err != nil {
			j.w.fail("read the journal at the end: %v", err)
			return
		}
		if first == 0 {
			first = r.Index
		}
		if r.Index > j.w.ledger.last() || string(j.w.ledger.records[r.Index-1].Data) != string(r.Data) {
			j.w.fail("record %d is not what was written", r.Index)
			return
		}
	}
	state, _, err := s.load()
	if err != nil || state.Hash() != j.w.ledger.state.Hash() {
		j.w.fail("the journal at the end gives another state (%v)", err)
	}
}

// oldest is the first record that cannot have been trimmed.
func (s *server) oldest() journal.Index {
	at, r, err := s.disk.Journal.LoadSnapshot(s.w.ctx)
	if err != nil {
		return 1
	}
	s.w.fail1(r.Close())
	return at + 1
}
