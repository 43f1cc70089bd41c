// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
)

// TestMain also plays the processes that are watched and killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "live" {
		os.Exit(live(os.Args[2], os.Args[3]))
	}
	goleak.VerifyTestMain(m)
}

// live plays a life in a folder, in a process of its own.
func live(dir, which string) int {
	l := &life{
		ctx: context.Background(), told: os.Stdout,
		open: func() (journal.Journal, error) { return bboltjournal.Open(dir) },
	}
	play := l.short
	if which == "long" {
		play = func() error { return l.long(crowds()) }
	}
	if err := play(); err != nil {
		fmt.Fprintln(os.Stderr, which, "life:", err)
		return 1
	}
	return 0
}

// crowds is how many commands come at once in the long life. With more of them
// a snapshot has several chunks.
func crowds() int {
	if os.Getenv("CRASH_ALL") == "" {
		return 12
	}
	return 70
}

func setting(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// restored is the state in a journal, as it is loaded at a start: the snapshot
// and the records behind it. It returns where the snapshot is.
func restored(ctx context.Context, j journal.Journal) (*admission.State, journal.Index, error) {
	state := admission.New()
	at, r, err := j.LoadSnapshot(ctx)
	if err == nil {
		var data []byte
		data, err = io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err == nil {
			err = json.Unmarshal(data, state)
		}
	} else if errors.Is(err, journal.ErrNoSnapshot) {
		err = nil
	}
	if err != nil {
		return nil, 0, err
	}
	for record, err := range j.Read(ctx, at+1) {
		if err == nil {
			err = fold(state, int(record.Index), record.Data)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return state, at, nil
}
