// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

// store is where the journal is, and how a server gets a handle of it.
type store struct {
	memory *memjournal.Store
	// dial opens a journal on disk, for one server at a time; nil for memory.
	dial func() (journal.Journal, error)
}

func newStore(dial func() (journal.Journal, error)) *store {
	if dial != nil {
		return &store{dial: dial}
	}
	return &store{memory: memjournal.NewStore()}
}

// shared says whether several servers may have handles at once.
func (x *store) shared() bool { return x.dial == nil }

func (x *store) open(s *server) error {
	if x.shared() {
		s.disk = &disk{Journal: x.memory.Open(), w: s.w}
		return nil
	}
	j, err := x.dial()
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	s.disk = &disk{Journal: j, w: s.w}
	return nil
}

func (x *store) close(s *server) error {
	if s.disk == nil {
		return nil
	}
	err := s.disk.Close()
	s.disk = nil
	return err
}
