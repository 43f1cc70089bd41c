// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// lead becomes the leader, loads the state behind the journal, and grants
// every live session a full lease: nobody could renew while nobody led.
func (r *realm) lead(ctx context.Context) error {
	epoch, err := r.c.config.Journal.Lead(ctx)
	if err != nil {
		return err
	}
	state, at, err := load(ctx, r.c.config.Journal)
	if err != nil {
		return err
	}
	r.state, r.epoch, r.last = state, epoch, journal.Index(state.Index())
	r.ahead = false
	r.snapshotAt = max(r.snapshotAt, at)
	r.c.epoch.Store(uint64(epoch))
	r.c.index.Store(uint64(r.last))
	if err := r.takeOver(); err != nil {
		r.ahead = true
		return err
	}
	r.count()
	r.peers.rebuild(r.state)
	r.refollow()
	r.c.log.Info("leading", "epoch", epoch, "index", r.last, "sessions", r.c.Live())
	return nil
}

// takeOver journals the new leases.
func (r *realm) takeOver() error {
	var d decided
	for _, o := range r.renewals() {
		r.decide(o, &d)
		if o.err != nil {
			return fmt.Errorf("renew the leases: %w", o.err)
		}
	}
	if err := r.append(d); err != nil {
		return fmt.Errorf("renew the leases: %w", err)
	}
	r.publish(d.news)
	return nil
}

// load is the state behind the last record: the newest snapshot and the
// decisions after it. It returns the index of the snapshot, too.
func load(ctx context.Context, j journal.Journal) (*admission.State, journal.Index, error) {
	state := admission.New()
	at, err := loadSnapshot(ctx, j, state)
	if err != nil {
		return nil, 0, err
	}
	for record, err := range j.Read(ctx, at+1) {
		if err != nil {
			return nil, 0, fmt.Errorf("read the journal: %w", err)
		}
		if err := fold(state, record); err != nil {
			return nil, 0, fmt.Errorf("replay the journal: %w", err)
		}
	}
	return state, at, nil
}

func loadSnapshot(ctx context.Context, j journal.Journal, state *admission.State) (journal.Index, error) {
	at, r, err := j.LoadSnapshot(ctx)
	if errors.Is(err, journal.ErrNoSnapshot) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("load the snapshot: %w", err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return 0, fmt.Errorf("load the snapshot: %w", err)
	}
	if err := json.Unmarshal(data, state); err != nil {
		return 0, fmt.Errorf("load the snapshot: %w", newer(err))
	}
	if state.Index() != uint64(at) {
		return 0, fmt.Errorf("%w: the snapshot at %d holds the state at %d", journal.ErrCorrupt, at, state.Index())
	}
	return at, nil
}

func fold(state *admission.State, r journal.Record) error {
	record, err := admission.DecodeRecord(r.Data)
	if err != nil {
		return newer(err)
	}
	if record.Index != uint64(r.Index) {
		return fmt.Errorf("%w: record %d says that it is %d", journal.ErrCorrupt, r.Index, record.Index)
	}
	return state.Fold(record.Index, record.Now, record.Events)
}

// newer marks what a later version wrote as the journal's error for that.
func newer(err error) error {
	if errors.Is(err, admission.ErrNewer) {
		return fmt.Errorf("%w: %w", journal.ErrNewer, err)
	}
	return err
}

// maybeSnapshot saves a copy of the state in the background when enough was
// journalled since the last time.
func (r *realm) maybeSnapshot() {
	if r.saving != nil || uint64(r.last-r.snapshotAt) < r.c.config.SnapshotEvery {
		return
	}
	done := make(chan journal.Index, 1)
	r.saving = done
	state, at, epoch := r.state.Clone(), r.last, r.epoch
	go func() {
		if err := r.save(r.c.life, state, at, epoch); err != nil {
			r.c.log.Warn("no snapshot", "index", at, "error", err)
		}
		done <- at // also after an error: try again after as many records
	}()
}

func (r *realm) saved(at journal.Index) {
	r.saving = nil
	r.snapshotAt = max(r.snapshotAt, at)
}

// save writes a snapshot and forgets records that are long covered. It uses
// nothing of r that changes.
func (r *realm) save(ctx context.Context, state *admission.State, at journal.Index, epoch journal.Epoch) error {
	data, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("write the state: %w", err)
	}
	j := r.c.config.Journal
	if err := j.SaveSnapshot(ctx, epoch, at, bytes.NewReader(data)); err != nil {
		return err
	}
	if keep := journal.Index(r.c.config.Retain); at > keep {
		return j.Trim(ctx, epoch, at-keep)
	}
	return nil
}
