// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package throughput_test

import (
	"context"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// maxRawBatch is what the coordinator puts into one append at most.
const maxRawBatch = 256

// group is raw group commit: the least that has to happen for many callers to
// share the appends of one journal. Callers hand their record to one goroutine,
// which appends all that wait together and answers each of them when that
// append has returned. There is no state, nothing is decided, and the records
// are made beforehand.
type group struct {
	journal journal.Journal
	epoch   journal.Epoch
	last    journal.Index
	waiting chan *entry
	over    chan struct{}
}

// entry is one record with whoever waits for it.
type entry struct {
	data []byte
	done chan error
}

// newGroup leads j. The caller closes the group, and then j.
func newGroup(ctx context.Context, j journal.Journal) (*group, error) {
	epoch, err := j.Lead(ctx)
	if err != nil {
		return nil, err
	}
	last, err := j.Last(ctx)
	if err != nil {
		return nil, err
	}
	g := &group{journal: j, epoch: epoch, last: last, waiting: make(chan *entry, 1024), over: make(chan struct{})}
	go g.run(ctx)
	return g, nil
}

// commit returns when the record is in the journal. The entry is the caller's
// own, to be used again.
func (g *group) commit(e *entry) error {
	g.waiting <- e
	return <-e.done
}

func (g *group) run(ctx context.Context) {
	defer close(g.over)
	entries := make([]*entry, 0, maxRawBatch)
	batch := make([][]byte, 0, maxRawBatch)
	for first := range g.waiting {
		entries, batch = append(entries[:0], first), append(batch[:0], first.data)
		for more := true; more && len(entries) < maxRawBatch; {
			select {
			case e, ok := <-g.waiting:
				if more = ok; ok {
					entries, batch = append(entries, e), append(batch, e.data)
				}
			default:
				more = false
			}
		}
		last, err := g.journal.Append(ctx, g.epoch, g.last, batch)
		if err == nil {
			g.last = last
		}
		for _, e := range entries {
			e.done <- err
		}
	}
}

func (g *group) close() {
	close(g.waiting)
	<-g.over
}
