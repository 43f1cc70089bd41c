// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package history

import (
	"context"
	"io"
	"sync"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// mortal is the journal of a process that may die within an append: the append
// has happened or not, and its answer reaches nobody. Nothing the dead process
// asks for afterwards happens.
type mortal struct {
	journal.Journal

	mu      sync.Mutex
	doomed  bool // at the next append
	dead    bool
	written bool
	within  chan struct{}
	risen   chan struct{}
	late    func() error // the append, when it was not written
}

func newMortal(j journal.Journal) *mortal {
	return &mortal{Journal: j, within: make(chan struct{}), risen: make(chan struct{})}
}

// die dooms the process. The channel is closed when it has died.
func (m *mortal) die(written bool) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.doomed, m.written = true, written
	return m.within
}

// rise lets the dead process go on, as one does that was only stopped: its
// append is tried now, if it was not before.
func (m *mortal) rise() error {
	err := journal.ErrFenced
	if m.late != nil {
		err = m.late()
	}
	close(m.risen)
	return err
}

// Append implements journal.Journal.
func (m *mortal) Append(ctx context.Context, epoch journal.Epoch, after journal.Index, batch [][]byte) (journal.Index, error) {
	m.mu.Lock()
	dies, dead, written := m.doomed, m.dead, m.written
	m.doomed = false
	m.dead = dead || dies
	m.mu.Unlock()
	switch {
	case dead:
		return 0, journal.ErrFenced
	case !dies:
		return m.Journal.Append(ctx, epoch, after, batch)
	}
	if written {
		if _, err := m.Journal.Append(ctx, epoch, after, batch); err != nil {
			return 0, err
		}
	} else {
		m.late = func() error {
			_, err := m.Journal.Append(context.WithoutCancel(ctx), epoch, after, batch)
			return err
		}
	}
	close(m.within)
	<-m.risen
	return 0, journal.ErrUnknown
}

func (m *mortal) alive() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return journal.ErrClosed
	}
	return nil
}

// Lead implements journal.Journal.
func (m *mortal) Lead(ctx context.Context) (journal.Epoch, error) {
	if err := m.alive(); err != nil {
		return 0, err
	}
	return m.Journal.Lead(ctx)
}

// SaveSnapshot implements journal.Journal.
func (m *mortal) SaveSnapshot(ctx context.Context, epoch journal.Epoch, at journal.Index, state io.Reader) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Journal.SaveSnapshot(ctx, epoch, at, state)
}

// Trim implements journal.Journal.
func (m *mortal) Trim(ctx context.Context, epoch journal.Epoch, to journal.Index) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Journal.Trim(ctx, epoch, to)
}
