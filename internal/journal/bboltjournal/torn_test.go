// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// listener makes a witness of what is written to it, a line at a time.
type listener struct{ *witness }

// Write implements io.Writer.
func (l listener) Write(line []byte) (int, error) {
	l.hear(strings.TrimSpace(string(line)))
	return len(line), nil
}

// powerCut is the file as it was before a commit and behind it, and what the
// writer knew in between.
type powerCut struct {
	before, after []byte
	witness       witness
}

// cuts runs the script and notes every commit.
func cuts(t *testing.T) []powerCut {
	t.Helper()
	j := open(t, filepath.Join(t.TempDir(), "state"))
	defer j.Close()
	var w witness
	all := make([]powerCut, 0, 64)
	take := func() []byte {
		data, err := os.ReadFile(j.Path())
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	m := &moments{reached: func(string) {}}
	hook := func(s step) {
		switch s { //nolint:exhaustive // only commits count
		case stepDecided:
			all = append(all, powerCut{before: take(), witness: w})
		case stepCommitted:
			all[len(all)-1].after = take()
		}
	}
	if err := scriptWith(t.Context(), j, m, listener{&w}, hook); err != nil {
		t.Fatal(err)
	}
	return all
}

const sector = 512

// tornImage is the file after a power cut within a commit: of the sectors that
// were to be written, some are on the disk. The header is written only once all
// others are.
func (c powerCut) tornImage(random *rand.Rand) []byte {
	image := bytes.Clone(c.before)
	if random.IntN(2) == 0 { // the file had its new length already
		image = append(image, make([]byte, max(0, len(c.after)-len(c.before)))...)
	}
	part := random.Float64()
	for at := 2 * os.Getpagesize(); at < len(image); at += sector {
		end := min(at+sector, len(image))
		was := c.before[min(at, len(c.before)):min(end, len(c.before))]
		if bytes.Equal(was, c.after[at:end]) || random.Float64() > part {
			continue
		}
		copy(image[at:end], c.after[at:end])
		if random.IntN(8) == 0 { // or something that never was
			for i := at; i < end; i++ {
				image[i] = byte(random.Uint32())
			}
		}
	}
	return image
}

// TestPowerCut: whatever part of a commit is on the disk, the journal is as it
// was before; once the header is, it is as it was to be.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	seed := number(t, seedVariable, time.Now().UnixNano())
	t.Logf("%s=%d", seedVariable, seed)
	all := cuts(t)
	if len(all) < 20 {
		t.Fatalf("the script has %d commits only", len(all))
	}
	for i, c := range all {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
			for range 2 {
				w := c.witness
				w.at, w.tried = "a power cut", w.wrote
				checkImage(t, w, c.tornImage(random))
			}
			w := c.witness
			w.at, w.wrote, w.hash = "the commit", w.tried, ""
			checkImage(t, w, c.after)
		})
	}
}

// checkImage checks a file of this content.
func checkImage(t *testing.T, w witness, image []byte) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, FileName), image)
	w.check(t, dir)
}
