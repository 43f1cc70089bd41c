// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

const (
	// smallSnapshot is the size in bytes up to which a snapshot costs hardly more
	// than an append.
	smallSnapshot = 1 << 20
	// cheapReplay is the size in bytes of records that are read again well within
	// a second or two, and so may wait for a snapshot a while longer.
	cheapReplay = 16 << 20
)

// covered is how far the newest snapshot goes.
type covered struct {
	at journal.Index
	// size is that of the snapshot, since that of the records after it, both in
	// bytes.
	size, since int
}

// due says whether it is time for the next snapshot behind the record at last.
// Besides the number of records, their size counts: as long as they take less
// than a snapshot does, writing another costs more than it saves, both now and
// for who reads it. So snapshots at most double what is written, however large
// the state is, and add a quarter to it as long as what is read again for that is
// little.
func (c covered) due(last journal.Index, every uint64) bool {
	worth := c.size + min(3*c.size, cheapReplay) - smallSnapshot
	return uint64(last-c.at) >= every && c.since >= worth
}

// maybeSnapshot saves a copy of the state in the background when enough was
// journalled since the last time.
func (r *realm) maybeSnapshot() {
	if r.saving != nil || !r.covered.due(r.last, r.c.config.SnapshotEvery) {
		return
	}
	done := make(chan covered, 1)
	r.saving = done
	state, epoch := r.view.Clone(), r.epoch
	next := covered{at: r.last, size: r.covered.size, since: r.covered.since}
	go func() {
		size, err := r.save(r.c.life, state, next.at, epoch)
		if err != nil {
			r.c.log.Warn("no snapshot", "index", next.at, "error", err)
		} else {
			next.size = size
		}
		done <- next // also after an error: try again after as many records
	}()
}

// saved takes note of a snapshot, whose since is what it has covered.
func (r *realm) saved(s covered) {
	r.saving = nil
	if s.at > r.covered.at {
		r.covered = covered{at: s.at, size: s.size, since: max(0, r.covered.since-s.since)}
	}
}

// save writes a snapshot, says how large it is, and forgets records that are
// long covered. It uses nothing of r that changes.
func (r *realm) save(ctx context.Context, state *admission.State, at journal.Index, epoch journal.Epoch) (int, error) {
	j := r.c.config.Journal
	in := counter{from: stream(state)}
	defer in.from.Close()
	if err := j.SaveSnapshot(ctx, epoch, at, &in); err != nil {
		return 0, err
	}
	if keep := journal.Index(r.c.config.Retain); at > keep {
		return in.read, j.Trim(ctx, epoch, at-keep)
	}
	return in.read, nil
}

// written reads what a goroutine writes, whose end Close waits for.
type written struct {
	*io.PipeReader
	done chan struct{}
}

// stream is the snapshot of a state, written while it is read, so that no more
// than a piece of it is in memory. The state must not change before Close has
// returned.
func stream(state *admission.State) io.ReadCloser {
	from, to := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		to.CloseWithError(state.WriteSnapshot(to)) // nil is the end
	}()
	return written{from, done}
}

// Close implements io.Closer. A snapshot that was not read to its end is given
// up.
func (w written) Close() error {
	err := w.PipeReader.Close()
	<-w.done
	return err
}

// counter counts the bytes that are read.
type counter struct {
	from io.ReadCloser
	read int
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.read += n
	return n, err
}

// loadSnapshot is the state of the newest snapshot; there may be none.
func loadSnapshot(ctx context.Context, j journal.Journal) (*admission.State, covered, error) {
	at, r, err := j.LoadSnapshot(ctx)
	if errors.Is(err, journal.ErrNoSnapshot) {
		return admission.New(), covered{}, nil
	}
	if err != nil {
		return nil, covered{}, fmt.Errorf("load the snapshot: %w", err)
	}
	in := counter{from: r}
	defer in.from.Close()
	state, err := admission.ReadSnapshot(&in)
	if err != nil {
		return nil, covered{}, fmt.Errorf("load the snapshot: %w", newer(err))
	}
	if state.Index() != uint64(at) {
		return nil, covered{}, fmt.Errorf("%w: the snapshot at %d holds the state at %d", journal.ErrCorrupt, at, state.Index())
	}
	return state, covered{at: at, size: in.read}, nil
}
