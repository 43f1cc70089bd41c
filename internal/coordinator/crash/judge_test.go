// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package crash

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// call is what a witness knows of a transaction.
type call struct {
	id, session, network string
	key, token           uint64
	status               admission.Status
	changing             bool // it may be further already
}

// witness has heard what a process told before it ended.
type witness struct {
	log   [][]byte // all records; those behind acked may be there or not
	acked int
	// hashes are of the state behind each record, the first one of none.
	hashes []string
	state  *admission.State // behind log
	led    journal.Epoch
	wrote  journal.Epoch // with which the last record was acknowledged
	saved  journal.Index
	open   []string
	calls  map[string]call
}

func newWitness() *witness {
	state := admission.New()
	return &witness{state: state, hashes: []string{hash(state)}, calls: map[string]call{}}
}

func hash(s *admission.State) string {
	sum := s.Hash()
	return hex.EncodeToString(sum[:8])
}

// copy is what the witness knows now.
func (w *witness) copy() *witness {
	c := *w
	c.log, c.hashes = slices.Clip(w.log), slices.Clip(w.hashes)
	c.open, c.calls = slices.Clone(w.open), maps.Clone(w.calls)
	return &c
}

// hear takes in what was told, which may be several lines.
func (w *witness) hear(text string) error {
	for line := range strings.Lines(text) {
		if err := w.line(strings.Fields(line)); err != nil {
			return fmt.Errorf("%.80s: %w", line, err)
		}
	}
	return nil
}

func (w *witness) line(f []string) error {
	var err error
	scan := func(text string, into any) {
		_, scanErr := fmt.Sscan(text, into)
		err = errors.Join(err, scanErr)
	}
	switch f[0] {
	case "leads":
		scan(f[1], &w.led)
	case "tries":
		var after int
		scan(f[1], &after)
		return errors.Join(err, w.tries(after, f[2:]))
	case "wrote":
		scan(f[1], &w.acked)
		scan(f[2], &w.wrote)
	case "saved":
		scan(f[1], &w.saved)
	case "opened":
		w.open = append(w.open, f[1])
	case "is":
		c := call{id: f[1], status: admission.Status(f[2]), session: f[3], network: f[5]}
		scan(f[4], &c.key)
		scan(f[6], &c.token)
		w.calls[c.id] = c
	case "starts", "ends":
		c := w.calls[f[1]]
		c.changing = true
		w.calls[f[1]] = c
	case "now":
		c := w.calls[f[1]]
		c.status, c.changing = admission.Status(f[2]), false
		w.calls[f[1]] = c
	default:
		return errors.New("it was not to say that")
	}
	return err
}

// tries notes records that may be there from now on.
func (w *witness) tries(after int, texts []string) error {
	if after < w.acked || after > len(w.log) {
		return fmt.Errorf("behind %d, with %d acknowledged", after, w.acked)
	}
	w.acked = after // it has read them
	if after < len(w.log) {
		w.log, w.hashes, w.state = w.log[:after:after], w.hashes[:after+1:after+1], admission.New()
		for i, data := range w.log {
			if err := fold(w.state, i+1, data); err != nil {
				return err
			}
		}
	}
	for _, text := range texts {
		data, err := base64.StdEncoding.DecodeString(text)
		if err == nil {
			err = fold(w.state, len(w.log)+1, data)
		}
		if err != nil {
			return err
		}
		w.log, w.hashes = append(w.log, data), append(w.hashes, hash(w.state))
	}
	return nil
}

func fold(s *admission.State, index int, data []byte) error {
	r, err := admission.DecodeRecord(data)
	if err != nil {
		return err
	}
	if r.Index != uint64(index) {
		return fmt.Errorf("record %d says that it is %d", index, r.Index)
	}
	return s.Fold(r.Index, r.Now, r.Events)
}

// inspected is a journal at which is looked as soon as it is led, before
// anything is written.
type inspected struct {
	journal.Journal
	look  func(journal.Journal, journal.Epoch) error
	epoch journal.Epoch
}

// Lead implements journal.Journal.
func (j *inspected) Lead(ctx context.Context) (journal.Epoch, error) {
	epoch, err := j.Journal.Lead(ctx)
	if err == nil {
		j.epoch = epoch
		err = j.look(j.Journal, epoch)
	}
	return epoch, err
}

// judge opens what was left, with a new coordinator, and says what is wrong with
// it: everything acknowledged is there, and of what was about to be written all
// or nothing; the state is that of these records, to the hash; the epoch has
// grown, and the old one is fenced; sessions have full leases; calls are where
// they were, answer to their keys, and nobody else gets what they hold.
func (w *witness) judge(ctx context.Context, j journal.Journal) error {
	seen := &inspected{Journal: j, look: func(j journal.Journal, epoch journal.Epoch) error { return w.inspect(ctx, j, epoch) }}
	before := time.Now()
	c, err := coordinator.New(ctx, coordinator.Config{Journal: seen})
	if err != nil {
		return fmt.Errorf("it cannot be opened: %w", err)
	}
	err = errors.Join(w.fenced(ctx, j, seen.epoch, c), w.sessions(ctx, c, before), w.held(ctx, c))
	return errors.Join(err, c.Close(ctx))
}

// inspect looks at the records and the snapshot.
func (w *witness) inspect(ctx context.Context, j journal.Journal, epoch journal.Epoch) error {
	last, err := j.Last(ctx)
	if err != nil {
		return err
	}
	if n := int(last); n != w.acked && n != len(w.log) {
		return fmt.Errorf("the last record is %d; %d were acknowledged, and %d tried", n, w.acked, len(w.log))
	}
	if epoch <= w.wrote {
		return fmt.Errorf("epoch %d follows %d", epoch, w.wrote)
	}
	state, at, err := restored(ctx, j)
	if err != nil {
		return err
	}
	if at < w.saved {
		return fmt.Errorf("the snapshot is at %d; one at %d was acknowledged", at, w.saved)
	}
	if got := hash(state); state.Index() != uint64(last) || got != w.hashes[last] {
		return fmt.Errorf("the state at %d is %s; that of the records behind %d is %s", state.Index(), got, last, w.hashes[last])
	}
	return nil
}

// fenced: what the dead one would write is refused.
func (w *witness) fenced(ctx context.Context, j journal.Journal, epoch journal.Epoch, c *coordinator.Coordinator) error {
	if w.led == 0 || w.led == epoch {
		return nil
	}
	_, err := j.Append(ctx, w.led, journal.Index(c.Index()), [][]byte{[]byte("late")})
	if !errors.Is(err, journal.ErrFenced) {
		return fmt.Errorf("an append of epoch %d under %d: %w", w.led, epoch, err)
	}
	return nil
}

// sessions: whoever was there still is, for a full lease.
func (w *witness) sessions(ctx context.Context, c *coordinator.Coordinator, before time.Time) error {
	status, err := c.Status(ctx)
	if err != nil {
		return err
	}
	left := map[string]time.Duration{}
	for _, s := range status.Sessions {
		left[string(s.ID)] = time.Unix(0, s.Expires).Sub(before)
	}
	for _, id := range w.open {
		if left[id] < sessionLease {
			err = errors.Join(err, fmt.Errorf("session %s has %s left", id, left[id]))
		}
	}
	return err
}

// held: calls are where they were, and keep what they hold.
func (w *witness) held(ctx context.Context, c *coordinator.Coordinator) error {
	other, err := c.OpenSession(ctx, admission.Session{Actor: "mallory", Lease: int64(sessionLease), Policy: admission.Reject}, admission.Intent{Objective: "test"})
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(w.calls)) {
		x := w.calls[id]
		r := coordinatortest.Create(x.network, "a")
		r.Key = x.key
		d, f, err := c.Submit(ctx, admission.SessionID(x.session), r, "")
		if f != nil {
			f.Close()
		}
		if err != nil {
			return fmt.Errorf("%s is asked for again: %w", id, err)
		}
		if string(d.Tx) != id || d.Status != x.status && !x.changing && !(x.status == admission.Queued && d.Status == admission.Admitted) ||
			x.token != 0 && d.Token != x.token {
			return fmt.Errorf("%s was %s with token %d, and its key is answered with %s, %s, %d", id, x.status, x.token, d.Tx, d.Status, d.Token)
		}
		if !d.Status.Holds() {
			continue
		}
		r = coordinatortest.Create(x.network, "a")
		if d, _, err = c.Submit(ctx, other.Session, r, ""); err != nil || d.Status != admission.Rejected {
			return fmt.Errorf("what %s holds as %s is given to another: %s, %w", id, x.status, d.Status, err)
		}
	}
	free, _, err := c.Submit(ctx, other.Session, coordinatortest.Create("free", "a"), "")
	if err != nil || free.Status != admission.Admitted {
		return fmt.Errorf("what nobody holds: %s, %w", free.Status, err)
	}
	return nil
}
