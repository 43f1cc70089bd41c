// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// writer keeps a state of the real machine behind a journal, as a coordinator
// does: it says what it is about to write, and what was acknowledged.
type writer struct {
	j     *Journal
	epoch journal.Epoch
	last  journal.Index
	state *admission.State
	said  io.Writer
	calls int // how many calls were submitted in all
}

// newWriter leads the journal and loads what is in it.
func newWriter(ctx context.Context, j *Journal, said io.Writer) (*writer, error) {
	w := &writer{j: j, said: said}
	return w, w.lead(ctx)
}

func (w *writer) lead(ctx context.Context) error {
	epoch, err := w.j.Lead(ctx)
	if err != nil {
		return err
	}
	state, _, err := replay(ctx, w.j)
	if err != nil {
		return err
	}
	w.epoch, w.state, w.last = epoch, state, journal.Index(state.Index())
	w.calls = int(w.last) // a number that no earlier call has
	fmt.Fprintln(w.said, "leads", epoch)
	return nil
}

// prepared is a writer with records and a snapshot.
func prepared(t *testing.T, dir string, said io.Writer) *writer {
	t.Helper()
	j := open(t, dir)
	t.Cleanup(func() { j.Close() })
	j.chunkSize, j.trimPage = 1500, 5
	w, err := newWriter(t.Context(), j, said)
	if err == nil {
		err = errors.Join(w.append(t.Context(), 12), w.snapshot(t.Context(), 1000), w.append(t.Context(), 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// replay loads the state and notes the hash behind every record.
func replay(ctx context.Context, j journal.Journal) (*admission.State, map[journal.Index]string, error) {
	state, hashes := admission.New(), map[journal.Index]string{}
	at, r, err := j.LoadSnapshot(ctx)
	if err == nil {
		data, readErr := io.ReadAll(r)
		if err = errors.Join(readErr, r.Close()); err == nil {
			err = json.Unmarshal(data, state)
		}
	}
	if err != nil && !errors.Is(err, journal.ErrNoSnapshot) {
		return nil, nil, err
	}
	hashes[at] = stateHash(state)
	for record, err := range j.Read(ctx, at+1) {
		if err != nil {
			return nil, nil, err
		}
		decoded, err := admission.DecodeRecord(record.Data)
		if err == nil {
			err = state.Fold(decoded.Index, decoded.Now, decoded.Events)
		}
		if err != nil {
			return nil, nil, err
		}
		hashes[record.Index] = stateHash(state)
	}
	return state, hashes, nil
}

func stateHash(state *admission.State) string {
	sum := state.Hash()
	return hex.EncodeToString(sum[:8])
}

// append decides n commands and writes them in one batch. It acknowledges only
// after the journal has.
func (w *writer) append(ctx context.Context, n int) error {
	var batch [][]byte
	for range n {
		record, err := w.decide()
		if err != nil {
			return err
		}
		data, err := admission.EncodeRecord(record)
		if err != nil {
			return err
		}
		batch = append(batch, data)
	}
	fmt.Fprintln(w.said, "tries", w.last+journal.Index(n))
	last, err := w.j.Append(ctx, w.epoch, w.last, batch)
	if err != nil {
		return err
	}
	w.last = last
	fmt.Fprintln(w.said, "wrote", last, stateHash(w.state))
	return nil
}

// decide makes the next command of an endless run of calls.
func (w *writer) decide() (admission.Record, error) {
	command := w.next(admission.Stamp{Now: w.state.Now() + 1})
	events, err := w.state.Apply(command)
	if err == nil && len(events) == 0 {
		err = errors.New("a command did nothing")
	}
	return admission.Record{Index: w.state.Index(), Now: w.state.Now(), Command: command, Events: events}, err
}

const writerSession = "s"

func (w *writer) next(at admission.Stamp) admission.Command {
	if len(w.state.Sessions()) == 0 {
		return admission.OpenSession{
			Stamp:   at,
			Session: admission.Session{ID: writerSession, Actor: "alice", Lease: 1 << 60},
			Intent:  admission.Intent{ID: "i", Objective: "test"},
		}
	}
	for _, tx := range w.state.Transactions() {
		switch tx.Status { //nolint:exhaustive // the others are over
		case admission.Admitted:
			return admission.Start{Stamp: at, Tx: tx.ID, Token: tx.Token}
		case admission.Actioning:
			return admission.Complete{Stamp: at, Tx: tx.ID, Token: tx.Token, Result: admission.Succeeded, Exists: true}
		}
	}
	w.calls++
	return admission.Submit{Stamp: at, ID: admission.TxID(fmt.Sprint("t", w.calls)), Request: writerRequest(w.calls)}
}

// writerRequest creates one of few objects, so that the state stays small
// while the journal grows.
func writerRequest(n int) admission.Request {
	self := graph.NodeID(fmt.Sprint("realm/thing-", n%7))
	return admission.Request{
		Session: writerSession, Key: uint64(n), Address: fmt.Sprint("sim.thing", n%7), Type: "sim_thing", Action: admission.Create, Self: self,
		Nodes: []graph.Decl{
			{ID: "realm", Kind: graph.Realm},
			{ID: self, Parent: "realm", Kind: graph.Resource, Type: "sim_thing"},
		},
		Locks: lock.Close([]lock.Want{{Node: self, Mode: mode.X, Relation: lock.Same, Rule: "sim/write"}}, func(id graph.NodeID) (graph.NodeID, bool) {
			return "realm", id == self
		}),
	}
}

// snapshot saves the state and forgets all but keep records.
func (w *writer) snapshot(ctx context.Context, keep journal.Index) error {
	data, err := json.Marshal(w.state)
	if err != nil {
		return err
	}
	fmt.Fprintln(w.said, "saves", w.last)
	if err := w.j.SaveSnapshot(ctx, w.epoch, w.last, bytes.NewReader(data)); err != nil {
		return err
	}
	fmt.Fprintln(w.said, "saved", w.last)
	if w.last <= keep {
		return nil
	}
	return w.j.Trim(ctx, w.epoch, w.last-keep)
}

// witness is what a writer said before it ended.
type witness struct {
	found journal.Index // the last record before it
	epoch journal.Epoch // of its leadership
	on    journal.Epoch // with which the last record was acknowledged
	tried journal.Index // the last that it may have written
	wrote journal.Index // the last that it knew to be written
	hash  string        // of the state behind that
	saved journal.Index // the last snapshot that it knew to be saved
	at    string        // the step at which it was
}

// hear takes in one line.
func (w *witness) hear(line string) {
	var word string
	var n uint64
	var hash string
	_, _ = fmt.Sscan(line, &word, &n, &hash)
	switch word {
	case "leads":
		w.epoch = journal.Epoch(n)
		w.tried = w.wrote
	case "tries":
		w.tried = journal.Index(n)
	case "wrote":
		w.wrote, w.hash, w.on = journal.Index(n), hash, w.epoch
	case "saved":
		w.saved = journal.Index(n)
	case "at":
		w.at = line
	}
}

// check is what must hold after any end of a writer: nothing acknowledged is
// lost, no batch is there in part, the state is what it was, and the next
// leader goes on behind it, alone. The witness is of that one afterwards.
func (w *witness) check(t *testing.T, dir string) {
	t.Helper()
	j := open(t, dir)
	defer j.Close()
	epoch, err := j.Lead(t.Context())
	if err != nil {
		t.Fatalf("Lead after %q: %v", w.at, err)
	}
	last, err := j.Last(t.Context())
	if err != nil || last != w.wrote && last != w.tried {
		t.Fatalf("after %q the last record is %d, %v; acknowledged was %d, tried %d", w.at, last, err, w.wrote, w.tried)
	}
	state, hashes, err := replay(t.Context(), j)
	if err != nil {
		t.Fatalf("replay after %q: %v", w.at, err)
	}
	if journal.Index(state.Index()) != last {
		t.Errorf("the replay ends at %d, the journal at %d", state.Index(), last)
	}
	if w.hash != "" && hashes[w.wrote] != w.hash {
		t.Errorf("after %q the state at %d is %q; acknowledged was %q", w.at, w.wrote, hashes[w.wrote], w.hash)
	}
	if at, r, err := j.LoadSnapshot(t.Context()); w.saved > 0 && (err != nil || at < w.saved) {
		t.Errorf("after %q the snapshot is at %d, %v; saved was %d", w.at, at, err, w.saved)
	} else if err == nil {
		r.Close()
	}
	w.checkNext(t, &writer{j: j, epoch: epoch, last: last, state: state, said: io.Discard, calls: int(last)})
}

// checkNext: the next leader appends, the last one cannot.
func (w *witness) checkNext(t *testing.T, next *writer) {
	t.Helper()
	j, epoch, last := next.j, next.epoch, next.last
	if epoch <= w.on {
		t.Errorf("epoch %d follows %d", epoch, w.on)
	}
	if epoch != w.epoch {
		_, err := j.Append(t.Context(), w.epoch, last, [][]byte{[]byte("late")})
		if !errors.Is(err, journal.ErrFenced) {
			t.Errorf("Append of the dead leader's epoch: %v; want fenced", err)
		}
	}
	if err := next.append(t.Context(), 2); err != nil || next.last != last+2 {
		t.Errorf("the next leader is at %d, %v; want %d", next.last, err, last+2)
	}
	left, err := temporaries(j)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	*w = witness{epoch: next.epoch, on: next.epoch, found: next.last, tried: next.last, wrote: next.last, hash: stateHash(next.state)}
}
