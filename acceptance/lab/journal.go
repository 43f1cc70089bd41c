// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
)

// Journal is all that a coordinator has written down.
type Journal struct {
	// Records are all records, oldest first.
	Records []admission.Record
	// State is what they fold to.
	State *admission.State
}

// Journal stops the embedded coordinator and reads its journal, which only one
// process may have open.
func (e *Experiment) Journal(ctx context.Context) (Journal, error) {
	if err := e.StopCoordinator(); err != nil {
		return Journal{}, err
	}
	return ReadJournal(ctx, e.StateDir())
}

// ReadJournal reads the journal in a folder. It is meant for short experiments:
// records that a snapshot has replaced are an error.
func ReadJournal(ctx context.Context, dir string) (all Journal, err error) {
	j, err := bboltjournal.Open(dir)
	if err != nil {
		return all, fmt.Errorf("read the journal: %w", err)
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	if _, err := j.Lead(ctx); err != nil {
		return all, fmt.Errorf("read the journal: %w", err)
	}
	all.State = admission.New()
	for stored, err := range j.Read(ctx, 1) {
		if err != nil {
			return all, fmt.Errorf("read the journal: %w", err)
		}
		r, err := admission.DecodeRecord(stored.Data)
		if err == nil {
			err = all.State.Fold(r.Index, r.Now, r.Events)
		}
		if err != nil {
			return all, fmt.Errorf("read the journal: record %d: %w", stored.Index, err)
		}
		all.Records = append(all.Records, r)
	}
	return all, nil
}
