// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

// fate ends a process at one of the moments before and behind its calls to the
// journal.
type fate struct {
	mu      sync.Mutex
	at      int      // the number of the moment; 0 for never
	passed  []string // the moments
	reached bool
}

// pass is a moment; it fails from the end of the process on.
func (f *fate) pass(moment string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reached {
		return errDead
	}
	f.passed = append(f.passed, moment)
	if len(f.passed) == f.at {
		f.reached = true
		return errDead
	}
	return nil
}

// around runs a call between its two moments.
func (f *fate) around(what string, call func() error) error {
	if err := f.pass("before " + what); err != nil {
		return err
	}
	err := call()
	return errors.Join(err, f.pass("behind "+what))
}

// mortal is the journal of a process with a fate.
type mortal struct {
	journal.Journal
	fate *fate
}

// Lead implements journal.Journal.
func (m mortal) Lead(ctx context.Context) (epoch journal.Epoch, err error) {
	err = m.fate.around("Lead", func() (err error) { epoch, err = m.Journal.Lead(ctx); return err })
	return epoch, err
}

// Append implements journal.Journal.
func (m mortal) Append(ctx context.Context, epoch journal.Epoch, after journal.Index, batch [][]byte) (last journal.Index, err error) {
	err = m.fate.around("Append", func() (err error) { last, err = m.Journal.Append(ctx, epoch, after, batch); return err })
	return last, err
}

// Read implements journal.Journal.
func (m mortal) Read(ctx context.Context, from journal.Index) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		if err := m.fate.pass("before Read"); err != nil {
			yield(journal.Record{}, err)
			return
		}
		for r, err := range m.Journal.Read(ctx, from) {
			if !yield(r, err) {
				return
			}
		}
		if err := m.fate.pass("behind Read"); err != nil {
			yield(journal.Record{}, err)
		}
	}
}

// SaveSnapshot implements journal.Journal.
func (m mortal) SaveSnapshot(ctx context.Context, epoch journal.Epoch, at journal.Index, state io.Reader) error {
	return m.fate.around("SaveSnapshot", func() error { return m.Journal.SaveSnapshot(ctx, epoch, at, state) })
}

// LoadSnapshot implements journal.Journal.
func (m mortal) LoadSnapshot(ctx context.Context) (at journal.Index, r io.ReadCloser, err error) {
	err = m.fate.around("LoadSnapshot", func() (err error) { at, r, err = m.Journal.LoadSnapshot(ctx); return err })
	return at, r, err
}

// Trim implements journal.Journal.
func (m mortal) Trim(ctx context.Context, epoch journal.Epoch, to journal.Index) error {
	return m.fate.around("Trim", func() error { return m.Journal.Trim(ctx, epoch, to) })
}

// Secret implements journal.Journal.
func (m mortal) Secret(ctx context.Context) (secret []byte, err error) {
	err = m.fate.around("Secret", func() (err error) { secret, err = m.Journal.Secret(ctx); return err })
	return secret, err
}

// stores are where journals are kept; each is a new one that can be opened
// again.
func stores(t *testing.T) map[string]func(dir string) func() (journal.Journal, error) {
	t.Helper()
	return map[string]func(dir string) func() (journal.Journal, error){
		"memory": func(string) func() (journal.Journal, error) {
			s := memjournal.NewStore()
			return func() (journal.Journal, error) { return s.Open(), nil }
		},
		"disk": func(dir string) func() (journal.Journal, error) {
			return func() (journal.Journal, error) { return bboltjournal.Open(dir) }
		},
	}
}

// endAt plays a long life that ends at a moment, and judges what is left. It
// returns the moments that were passed.
func endAt(t *testing.T, open func() (journal.Journal, error), at int) []string {
	t.Helper()
	var told bytes.Buffer
	f := &fate{at: at}
	l := &life{ctx: context.Background(), told: &told, open: func() (journal.Journal, error) {
		j, err := open()
		return mortal{j, f}, err
	}}
	err := l.long(3)
	if l.c != nil {
		err = errors.Join(err, l.c.Close(l.ctx))
	}
	if l.j != nil {
		_ = l.j.Journal.Close()
	}
	if !f.reached && err != nil {
		t.Errorf("a whole life: %v", err)
	}
	w := newWitness()
	if err := w.hear(told.String()); err != nil {
		t.Errorf("moment %d: %v", at, err)
	}
	j, err := open()
	if err == nil {
		err = errors.Join(w.judge(t.Context(), j), j.Close())
	}
	if err != nil {
		t.Errorf("ended at moment %d, %s: %v", at, f.passed[len(f.passed)-1], err)
	}
	return f.passed
}

// TestBetweenCalls ends a coordinator between any two of its calls to its journal
// and before the answer to each: so between an Append and the answer to the
// command, between SaveSnapshot and Trim, and between Lead and the first Append.
func TestBetweenCalls(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			whole := endAt(t, store(filepath.Join(base, "0")), 0)
			counts := map[string]int{}
			for _, m := range whole {
				counts[strings.TrimPrefix(strings.TrimPrefix(m, "before "), "behind ")]++
			}
			t.Logf("%d moments: %v", len(whole), counts)
			for _, call := range []string{"Lead", "LoadSnapshot", "Read", "Secret", "Append", "SaveSnapshot", "Trim"} {
				if !slices.Contains(slices.Collect(maps.Keys(counts)), call) {
					t.Errorf("a life without %s", call)
				}
			}
			work := make(chan func())
			go func() {
				defer close(work)
				for at := 1; at <= len(whole); at++ {
					work <- func() { endAt(t, store(filepath.Join(base, fmt.Sprint(at))), at) }
				}
			}()
			together(work)
		})
	}
}

// together does work in more goroutines than there are processors, as it waits
// for the disk most of the time.
func together(work <-chan func()) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for f := range work {
				f()
			}
		})
	}
	all.Wait()
}
