// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// leadIn makes the server lead in a while, if it is the one to lead then.
func (s *server) leadIn(d time.Duration) {
	s.role = preparing
	s.after(d, func() {
		if s.w.leader != s {
			s.role = standby
			return
		}
		if err := s.lead(); err != nil {
			s.logf("cannot lead: %v", err)
			s.forget()
			s.leadIn(s.w.between(10*time.Millisecond, time.Second))
		}
	})
}

// lead becomes the leader, loads the state behind the journal, and grants every
// live session a full lease: nobody could renew while nobody led.
func (s *server) lead() error {
	epoch, err := s.disk.Lead(s.w.ctx)
	if err != nil {
		return err
	}
	state, at, err := s.load()
	if err != nil {
		return err
	}
	s.state, s.epoch, s.last = state, epoch, journal.Index(state.Index())
	s.snapshotAt = at
	s.w.judge.loaded(s)
	if err := s.takeOver(); err != nil {
		return fmt.Errorf("renew the leases: %w", err)
	}
	s.w.judge.leads(s)
	s.role, s.busy = leading, false
	s.logf("leads epoch %d from record %d", epoch, s.last)
	s.arm()
	return nil
}

// takeOver journals the new leases.
func (s *server) takeOver() error {
	var d decided
	if s.w.flaw.noTakeOver {
		return nil
	}
	for _, r := range s.renewals() {
		if err := s.decide(r.request, &d); err != nil {
			return err
		}
	}
	if len(d.records) == 0 {
		return nil
	}
	last, err := s.disk.Append(s.w.ctx, s.epoch, s.last, d.records)
	if err != nil {
		return err
	}
	s.last = last
	return nil
}

// load is the state behind the last record: the newest snapshot and the decisions
// after it.
func (s *server) load() (*admission.State, journal.Index, error) {
	state := admission.New()
	at, err := s.loadSnapshot(state)
	if err != nil {
		return nil, 0, err
	}
	for r, err := range s.disk.Read(s.w.ctx, at+1) {
		if err != nil {
			return nil, 0, fmt.Errorf("read the journal: %w", err)
		}
		if s.w.flaw.forgetLast && r.Index == s.w.ledger.last() {
			break
		}
		record, err := admission.DecodeRecord(r.Data)
		if err == nil {
			err = state.Fold(record.Index, record.Now, record.Events)
		}
		if err != nil {
			s.w.fail("replay record %d: %v", r.Index, err)
			return nil, 0, err
		}
	}
	return state, at, nil
}

func (s *server) loadSnapshot(state *admission.State) (journal.Index, error) {
	at, r, err := s.disk.LoadSnapshot(s.w.ctx)
	if errors.Is(err, journal.ErrNoSnapshot) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(data, state); err != nil {
		s.w.fail("the snapshot at %d cannot be read: %v", at, err)
		return 0, err
	}
	return at, nil
}

// maybeSnapshot saves a copy of the state when enough was journalled since the
// last time. It takes a while, in which the state goes on.
func (s *server) maybeSnapshot() {
	if uint64(s.last-s.snapshotAt) < snapshotEvery {
		return
	}
	state, at, epoch := s.state.Clone(), s.last, s.epoch
	s.snapshotAt = at
	if s.w.flaw.early {
		at--
	}
	s.after(s.w.between(time.Millisecond, 300*time.Millisecond), func() {
		if err := s.save(state, at, epoch); err != nil {
			s.logf("no snapshot at %d: %v", at, err)
		}
	})
}

func (s *server) save(state *admission.State, at journal.Index, epoch journal.Epoch) error {
	data, err := json.Marshal(state)
	if err != nil {
		s.w.fail("write the state at %d: %v", at, err)
		return err
	}
	if err := s.disk.SaveSnapshot(s.w.ctx, epoch, at, bytes.NewReader(data)); err != nil {
		return err
	}
	s.w.snapshots++
	if at > retain {
		return s.disk.Trim(s.w.ctx, epoch, at-retain)
	}
	return nil
}
