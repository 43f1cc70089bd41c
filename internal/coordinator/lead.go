// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"context"
	"errors"
	"fmt"

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
	state, covered, err := load(ctx, r.c.config.Journal)
	if err != nil {
		return err
	}
	r.state, r.epoch, r.last = state, epoch, journal.Index(state.Index())
	r.view, r.lost = state, false
	r.covered = covered
	r.c.epoch.Store(uint64(epoch))
	r.c.index.Store(uint64(r.last))
	if err := r.takeOver(); err != nil {
		r.lost = true
		return err
	}
	r.count()
	r.peers.rebuild(r.view)
	r.refollow()
	r.c.log.Info("leading", "epoch", epoch, "index", r.last, "sessions", r.c.Live())
	return nil
}

// takeOver journals the new leases.
func (r *realm) takeOver() error {
	var b batch
	for _, o := range r.renewals() {
		r.decide(o, &b)
		if o.err != nil {
			return fmt.Errorf("renew the leases: %w", o.err)
		}
	}
	if len(b.records) == 0 {
		return nil
	}
	l := r.write(r.epoch, r.last, &b)
	if l.err != nil {
		return fmt.Errorf("renew the leases: %w", l.err)
	}
	r.recorded(l.last, &b)
	r.publish(b.news)
	return nil
}

// load is the state behind the last record: the newest snapshot and the
// decisions after it. It also returns what there is to know of that snapshot.
func load(ctx context.Context, j journal.Journal) (*admission.State, covered, error) {
	state, c, err := loadSnapshot(ctx, j)
	if err != nil {
		return nil, covered{}, err
	}
	for record, err := range j.Read(ctx, c.at+1) {
		if err != nil {
			return nil, covered{}, fmt.Errorf("read the journal: %w", err)
		}
		if err := fold(state, record); err != nil {
			return nil, covered{}, fmt.Errorf("replay the journal: %w", err)
		}
		c.since += len(record.Data)
	}
	return state, c, nil
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
