// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// ledger is what is durable, kept beside the journal by what the disk knows: also
// of an append whose outcome it told nobody. Its state is folded from the records
// alone, one by one, and never from a snapshot.
type ledger struct {
	state   *admission.State
	records []journal.Record
	// read is the index at which each bucket was first read.
	read map[escrow.Key]uint64
	// deaths are the sessions said to be dead, in order.
	deaths []admission.SessionID
}

func newLedger() *ledger {
	return &ledger{state: admission.New(), read: map[escrow.Key]uint64{}}
}

// add takes over a batch that is on disk.
func (l *ledger) add(epoch journal.Epoch, batch [][]byte) error {
	for _, data := range batch {
		r, err := admission.DecodeRecord(data)
		if err != nil {
			return fmt.Errorf("decode what was journalled: %w", err)
		}
		if n := len(l.records); n > 0 && l.records[n-1].Epoch > epoch {
			return fmt.Errorf("record %d of epoch %d was written behind one of epoch %d", r.Index, epoch, l.records[n-1].Epoch)
		}
		if err := l.state.Fold(r.Index, r.Now, r.Events); err != nil {
			return fmt.Errorf("fold what was journalled: %w", err)
		}
		l.records = append(l.records, journal.Record{Index: journal.Index(r.Index), Epoch: epoch, Data: data})
		l.note(r)
	}
	return nil
}

func (l *ledger) note(r admission.Record) {
	for _, e := range r.Events {
		switch e := e.(type) {
		case admission.Measured:
			for _, reading := range e.Readings {
				if _, ok := l.read[reading.Bucket]; !ok && reading.Limit.Set && reading.Use.Set {
					l.read[reading.Bucket] = r.Index
				}
			}
		case admission.SenderDied:
			l.deaths = append(l.deaths, e.Session)
		}
	}
}

// last is the index of the last durable record.
func (l *ledger) last() journal.Index { return journal.Index(len(l.records)) }
