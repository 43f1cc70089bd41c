// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinatortest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// Journal is a journal whose appends can be counted, held up and made to fail.
type Journal struct {
	journal.Journal
	// Appends and Records count what was written.
	Appends, Records atomic.Int64
	// NoLead makes Lead fail while it is set.
	NoLead atomic.Bool

	mu   sync.Mutex
	gate func(write func() error) error
	took []time.Duration
}

// Took is how long each append has taken.
func (j *Journal) Took() []time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.took)
}

// Gate puts f in front of every append: f decides whether and when to write,
// and what the caller is told. A nil f lifts it.
func (j *Journal) Gate(f func(write func() error) error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.gate = f
}

// ErrNoLead is what Lead returns while NoLead is set.
var ErrNoLead = errors.New("nobody may lead")

// Lead implements journal.Journal.
func (j *Journal) Lead(ctx context.Context) (journal.Epoch, error) {
	if j.NoLead.Load() {
		return 0, ErrNoLead
	}
	return j.Journal.Lead(ctx)
}

// Append implements journal.Journal.
func (j *Journal) Append(ctx context.Context, epoch journal.Epoch, after journal.Index, batch [][]byte) (journal.Index, error) {
	j.mu.Lock()
	gate := j.gate
	j.mu.Unlock()
	var last journal.Index
	write := func() (err error) {
		j.Appends.Add(1)
		j.Records.Add(int64(len(batch)))
		began := time.Now()
		last, err = j.Journal.Append(ctx, epoch, after, batch)
		j.mu.Lock()
		j.took = append(j.took, time.Since(began))
		j.mu.Unlock()
		return err
	}
	if gate == nil {
		gate = func(write func() error) error { return write() }
	}
	err := gate(write)
	return last, err
}
