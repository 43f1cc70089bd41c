// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"context"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// Queued is how many commands wait for the append after the one that is being
// made, decided or not.
func Queued(c *Coordinator) int { return len(c.ops) + int(c.decided.Load()) }

// Due says whether a snapshot of this size in bytes, behind which there are so
// many records of some bytes together, is to be followed by another.
func Due(size int, records uint64, bytes int, every uint64) bool {
	return covered{size: size, since: bytes}.due(journal.Index(records), every)
}

// Hash is of the state in memory, behind the record that it returns the index
// of.
func Hash(ctx context.Context, c *Coordinator) (sum [32]byte, index uint64, err error) {
	err = c.ask(ctx, func(st *admission.State) error {
		sum, index = st.Hash(), st.Index()
		return nil
	})
	return sum, index, err
}
