// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

// mirrored is a journal that keeps all records, also those that it has trimmed.
type mirrored struct {
	journal.Journal
	all   *[][]byte
	fails int // 1: the next append has an unknown outcome and was written, 2: and was not
}

// Append implements journal.Journal.
func (m *mirrored) Append(ctx context.Context, epoch journal.Epoch, after journal.Index, batch [][]byte) (journal.Index, error) {
	how := m.fails
	m.fails = 0
	if how == 2 {
		return 0, journal.ErrUnknown
	}
	last, err := m.Journal.Append(ctx, epoch, after, batch)
	if err == nil {
		*m.all = append((*m.all)[:after:after], batch...)
		if how == 1 {
			return 0, journal.ErrUnknown
		}
	}
	return last, err
}

// worker does things at random with a coordinator.
type worker struct {
	t        *testing.T
	random   *rand.Rand
	open     func() journal.Journal
	all      [][]byte
	retain   uint64
	j        *mirrored
	c        *coordinator.Coordinator
	sessions []coordinator.Opened
	keys     uint64
}

func (w *worker) begin() {
	w.t.Helper()
	w.j = &mirrored{Journal: w.open(), all: &w.all}
	var err error
	w.c, err = coordinator.New(within(w.t), coordinator.Config{Journal: w.j, SnapshotEvery: 9, Retain: w.retain})
	if err != nil {
		w.t.Fatalf("New: %v", err)
	}
}

func (w *worker) end() {
	w.t.Helper()
	shut(w.t, w.c)
	if err := w.j.Close(); err != nil {
		w.t.Errorf("Close: %v", err)
	}
}

// step does something; that it is refused is all right.
func (w *worker) step() {
	ctx := within(w.t)
	if len(w.sessions) < 2 {
		w.sessions = append(w.sessions, open(w.t, w.c, fmt.Sprint("w", w.keys)))
	}
	s := w.sessions[w.random.IntN(len(w.sessions))]
	network, name := fmt.Sprint("n", w.random.IntN(3)), fmt.Sprint("s", w.random.IntN(3))
	switch n := w.random.IntN(20); {
	case n < 7:
		w.keys++
		action := []admission.Action{admission.Create, admission.Update, admission.Delete}[w.random.IntN(3)]
		r := coordinatortest.Consuming(coordinatortest.Write(network, name, action), coordinatortest.Addresses(network), int64(w.random.IntN(3)))
		r.Key = w.keys
		if _, f, err := w.c.Submit(ctx, s.Session, r, ""); err == nil && f != nil {
			f.Close()
		}
	case n < 16:
		w.act(ctx)
	case n == 16:
		_ = w.c.Measure(ctx, admission.Measure{Session: s.Session, Began: w.c.Index(), Readings: []admission.Reading{
			{Bucket: coordinatortest.Addresses(network), Limit: escrow.At(10), Use: escrow.At(int64(w.random.IntN(8)))},
		}})
	case n == 17:
		_, _ = w.c.Observe(ctx, admission.Observe{Session: s.Session, Began: w.c.Index(), Objects: []admission.Observation{{
			Decl:   graph.Decl{ID: coordinatortest.Network(network), Parent: coordinatortest.Realm, Kind: graph.Resource, Type: "sim_network"},
			Exists: true, Digest: name,
		}}})
	case n == 18:
		_, _ = w.c.Renew(ctx, s.Session, name)
	default:
		_, _ = w.c.CloseSession(ctx, s.Session)
		w.sessions = slices.DeleteFunc(w.sessions, func(o coordinator.Opened) bool { return o.Session == s.Session })
	}
}

// act goes on with some call.
func (w *worker) act(ctx context.Context) {
	st, err := w.c.Status(ctx)
	if err != nil || len(st.Transactions) == 0 {
		return
	}
	tx := st.Transactions[w.random.IntN(len(st.Transactions))]
	switch tx.Status { //nolint:exhaustive // the others are over
	case admission.Queued:
		if w.random.IntN(4) == 0 {
			_ = w.c.Withdraw(ctx, tx.Session, tx.ID, "test")
		}
	case admission.Admitted:
		_, _ = w.c.Start(ctx, tx.Session, tx.ID, tx.Token)
	case admission.Actioning:
		result := []admission.Result{admission.Succeeded, admission.Errored, admission.Lost}[w.random.IntN(3)]
		_ = w.c.Complete(ctx, tx.Session, coordinator.Outcome{Tx: tx.ID, Token: tx.Token, Result: result, Exists: w.random.IntN(2) == 0})
	case admission.Uncertain:
		_ = w.c.Resolve(ctx, tx.ID, "carol", "looked", w.random.IntN(2) == 0)
	}
}

// folded is the state behind all records from the first on.
func (w *worker) folded(upTo uint64) [32]byte {
	w.t.Helper()
	state := admission.New()
	for _, data := range w.all[:upTo] {
		foldInto(w.t, state, data)
	}
	return state.Hash()
}

func foldInto(t *testing.T, state *admission.State, data []byte) {
	t.Helper()
	r, err := admission.DecodeRecord(data)
	if err == nil {
		err = state.Fold(r.Index, r.Now, r.Events)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// check compares the state in memory with what the journal says.
func (w *worker) check(when string) {
	w.t.Helper()
	var memory [32]byte
	var index uint64
	for { // a coordinator that does not know what was written leads anew first
		var err error
		if memory, index, err = coordinator.Hash(within(w.t), w.c); err == nil {
			break
		} else if !errors.Is(err, coordinator.ErrUnavailable) {
			w.t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	if got := w.folded(index); got != memory {
		w.t.Errorf("%s: all %d records give %x, memory has %x", when, index, got[:4], memory[:4])
	}
	state, err := w.loaded(when)
	for errors.Is(err, journal.ErrCompacted) { // a snapshot was saved meanwhile
		state, err = w.loaded(when)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if got := state.Hash(); state.Index() != index || got != memory {
		w.t.Errorf("%s: snapshot and records give %x at %d, memory has %x at %d", when, got[:4], state.Index(), memory[:4], index)
	}
}

// loaded is what a start would load: the snapshot, which has to be the state
// behind its records, and the records behind it.
func (w *worker) loaded(when string) (*admission.State, error) {
	w.t.Helper()
	state := admission.New()
	at, r, err := w.j.LoadSnapshot(within(w.t))
	if err == nil {
		var data []byte
		if data, err = io.ReadAll(r); err == nil {
			err = errors.Join(json.Unmarshal(data, state), r.Close())
		}
		if err == nil && state.Hash() != w.folded(uint64(at)) {
			w.t.Errorf("%s: the snapshot at %d is not the state behind its records", when, at)
		}
	}
	if err != nil && !errors.Is(err, journal.ErrNoSnapshot) {
		return nil, err
	}
	for record, err := range w.j.Read(within(w.t), at+1) {
		if err != nil {
			return nil, err
		}
		foldInto(w.t, state, record.Data)
	}
	return state, nil
}

// TestReplayEqual: the state in memory, the snapshot with the records behind it,
// and all records from the first on are the same state, to the hash, whatever
// happened, over restarts and appends with an unknown outcome (invariant I14).
func TestReplayEqual(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(dir string) func() (journal.Journal, error){
		"memory": func(string) func() (journal.Journal, error) {
			s := memjournal.NewStore()
			return func() (journal.Journal, error) { return s.Open(), nil }
		},
		"disk": func(dir string) func() (journal.Journal, error) {
			return func() (journal.Journal, error) { return bboltjournal.Open(dir) }
		},
	} {
		for _, retain := range []uint64{3, 1 << 40} {
			for seed := range uint64(2) {
				t.Run(fmt.Sprintf("%s/retain=%d/seed=%d", name, retain, seed), func(t *testing.T) {
					t.Parallel()
					again := store(filepath.Join(t.TempDir(), "state"))
					w := &worker{t: t, random: rand.New(rand.NewPCG(seed, retain)), retain: retain, open: func() journal.Journal {
						j, err := again()
						if err != nil {
							t.Fatal(err)
						}
						return j
					}}
					w.begin()
					for n := range 200 {
						switch n % 40 {
						case 19:
							w.j.fails = 1 + n/40%2
						case 29:
							w.check("on the way")
						case 39:
							w.end()
							w.begin()
							w.check("after a restart")
						}
						w.step()
					}
					w.check("at the end")
					w.end()
					if len(w.all) < 100 {
						t.Errorf("only %d records", len(w.all))
					}
				})
			}
		}
	}
}
