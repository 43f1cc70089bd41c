// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package crash

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
)

// moment is right before one step.
type moment struct {
	number int
	next   op
	files  map[string]map[string][]byte // by how they were left
	heard  *witness
}

// moments are those of a whole life, and what a crash at each leaves.
func moments(t *testing.T, dir string, tr *trace, rounds int, random *rand.Rand) (list []moment, images int) {
	t.Helper()
	d, w, seen := newDisk(dir), newWitness(), map[[2]uint64]bool{}
	told := 0
	for _, o := range append(slices.Clone(tr.ops), op{action: closing, path: "the end"}) {
		if o.action == say {
			told++
			if err := w.hear(string(o.data)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		m := moment{number: len(list) + 1, next: o, files: map[string]map[string][]byte{}, heard: w.copy()}
		add := func(how string, files map[string][]byte) {
			if id := digest(told, files); !seen[id] { // else it was judged already
				seen[id] = true
				m.files[how] = files
				images++
			}
		}
		add("lost", d.lost())
		add("kept", d.kept())
		for i := range rounds {
			add(fmt.Sprint("torn", i+1), d.torn(random))
		}
		list = append(list, m)
		d.do(o)
	}
	return list, images
}

// digestSeed is of the digests; any will do.
var digestSeed = maphash.MakeSeed()

// digest tells folders apart, and what was known when they were left.
func digest(told int, files map[string][]byte) [2]uint64 {
	var h maphash.Hash
	h.SetSeed(digestSeed)
	var size uint64
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h.WriteString(name)
		h.Write(files[name])
		size += uint64(len(files[name]))
	}
	return [2]uint64{h.Sum64(), size<<20 + uint64(told)}
}

// observed is a life that was watched to its end.
func observed(t *testing.T, dir, which string) *trace {
	t.Helper()
	tr, err := follow(dir, 0, "live", dir, which)
	if err != nil || !tr.ended || tr.exit != 0 {
		t.Fatalf("the %s life ended with %d: %v", which, tr.exit, err)
	}
	return tr
}

// kinds counts the steps by what they do.
func kinds(tr *trace) string {
	counts := map[action]int{}
	for _, o := range tr.ops {
		counts[o.action]++
	}
	delete(counts, say)
	var all []string
	for _, a := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprint(a, " ", counts[a]))
	}
	return strings.Join(all, ", ")
}

// TestPowerCutBeforeAnyStep judges what a crash leaves before each step of a long
// life.
func TestPowerCutBeforeAnyStep(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	tr := observed(t, dir, "long")
	number := setting(t, "CRASH_SEED", int(rand.Uint32()))
	t.Logf("CRASH_SEED=%d", number)
	random := rand.New(rand.NewPCG(uint64(number), 1))
	list, images := moments(t, dir, tr, setting(t, "CRASH_ROUNDS", 1), random)
	t.Logf("%d steps (%s), %d records, %d folders to judge", len(list)-1, kinds(tr), len(list[len(list)-1].heard.log), images)
	base, work := t.TempDir(), make(chan func())
	go func() {
		defer close(work)
		for _, m := range list {
			for how, files := range m.files {
				work <- func() {
					left := filepath.Join(base, fmt.Sprint(m.number, how))
					if err := build(left, dir, files); err != nil {
						t.Error(err)
						return
					}
					judge(t, fmt.Sprintf("before step %d (%s), %s", m.number, m.next, how), m.heard, left)
					os.RemoveAll(left)
				}
			}
		}
	}()
	together(work)
}

// judge judges a folder.
func judge(t *testing.T, when string, w *witness, dir string) {
	t.Helper()
	j, err := bboltjournal.Open(dir)
	if err != nil {
		t.Error(err)
		return
	}
	if err := errors.Join(w.judge(t.Context(), j), j.Close()); err != nil {
		t.Errorf("%s: %v", when, err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 || list[0].Name() != bboltjournal.FileName {
		t.Errorf("%s: left behind: %v, %v", when, list, err)
	}
}

// TestKilledBeforeAnyStep kills a process right before each step of a life.
func TestKilledBeforeAnyStep(t *testing.T) {
	t.Parallel()
	which := "short"
	if setting(t, "CRASH_ALL", 0) != 0 {
		which = "long"
	}
	tr := observed(t, filepath.Join(t.TempDir(), "state"), which)
	t.Logf("%d steps (%s)", tr.steps(), kinds(tr))
	base, work := t.TempDir(), make(chan func())
	go func() {
		defer close(work)
		for n := 1; n <= tr.steps(); n++ {
			work <- func() { killBefore(t, filepath.Join(base, fmt.Sprint(n), "state"), which, n) }
		}
	}()
	together(work)
}

// killBefore kills a process before its nth step and judges what is left.
func killBefore(t *testing.T, dir, which string, n int) {
	t.Helper()
	if err := os.Mkdir(filepath.Dir(dir), 0o700); err != nil {
		t.Error(err)
		return
	}
	tr, err := follow(dir, n, "live", dir, which)
	if err != nil || tr.ended && (which == "short" || tr.exit != 0) {
		t.Errorf("it was not killed before step %d, and ended with %d: %v", n, tr.exit, err)
		return
	}
	w := newWitness()
	for _, o := range tr.ops {
		if o.action == say {
			if err := w.hear(string(o.data)); err != nil {
				t.Error(err)
				return
			}
		}
	}
	judge(t, fmt.Sprint("killed before step ", n), w, dir)
}
