// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// sound is a journal with every kind of page, and what it says.
type sound struct {
	image []byte
	says  string
	kinds map[string][]int // pages of each kind, by number
}

// makeSound fills a journal: enough records for a tree, one that overflows its
// page, a snapshot of several chunks, and trimmed records.
func makeSound(t *testing.T) sound {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	j := open(t, dir)
	defer j.Close()
	j.chunkSize = 9000
	epoch, err := j.Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var last journal.Index
	for i := range 24 {
		batch := make([][]byte, 50)
		for n := range batch {
			batch[n] = bytes.Repeat([]byte{byte(i)}, 100+n)
		}
		batch[7] = bytes.Repeat([]byte("long"), 3000)
		if last, err = j.Append(t.Context(), epoch, last, batch); err != nil {
			t.Fatal(err)
		}
	}
	state := strings.Repeat("the state ", 4000)
	if err := errors.Join(
		j.SaveSnapshot(t.Context(), epoch, last-500, strings.NewReader(state)),
		j.Trim(t.Context(), epoch, last-600),
	); err != nil {
		t.Fatal(err)
	}
	s := sound{says: contents(t, j)}
	if s.image, err = os.ReadFile(j.Path()); err != nil {
		t.Fatal(err)
	}
	s.kinds = kinds(s.image)
	for _, kind := range []string{"header", "branch", "leaf", "free list", "free", "overflow"} {
		if len(s.kinds[kind]) == 0 {
			t.Fatalf("the journal has no page of the kind %q: %v", kind, s.kinds)
		}
	}
	return s
}

// contents is everything that a journal gives out, but for its epoch.
func contents(t *testing.T, j *Journal) string {
	t.Helper()
	sum := sha256.New()
	first := false
	for r, err := range j.Read(t.Context(), journal.Index(1)+trimmedOf(t, j)) {
		if err != nil {
			t.Fatalf("Read: %v", err)
		}
		if !first {
			fmt.Fprintln(sum, "from", r.Index)
			first = true
		}
		fmt.Fprintln(sum, r.Index, r.Epoch, r.Data)
	}
	last, err := j.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at, state, err := j.LoadSnapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(state)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := j.Secret(t.Context())
	fmt.Fprintln(sum, last, at, data, secret, err)
	return fmt.Sprintf("%x", sum.Sum(nil))
}

func trimmedOf(t *testing.T, j *Journal) (n journal.Index) {
	t.Helper()
	err := j.view(t.Context(), func(tx *bbolt.Tx) error {
		n = trimmed(tx)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// kinds sorts the pages by what they say they are, and by the list of free
// ones.
func kinds(image []byte) map[string][]int {
	size := os.Getpagesize()
	order := binary.NativeEndian
	out := map[string][]int{"header": {0, 1}}
	free := map[int]bool{}
	newest := 0
	if order.Uint64(image[size+pageHeader+48:]) > order.Uint64(image[pageHeader+48:]) {
		newest = size
	}
	list := int(order.Uint64(image[newest+pageHeader+32:]))
	used := int(order.Uint64(image[newest+pageHeader+40:]))
	out["free list"] = []int{list}
	for i := range int(order.Uint16(image[list*size+10:])) {
		free[int(order.Uint64(image[list*size+pageHeader+8*i:]))] = true
	}
	for n := 2; n < used; n++ {
		kind := "leaf"
		switch flags := order.Uint16(image[n*size+8:]); {
		case n == list:
			continue
		case free[n]:
			kind = "free"
		case flags == branchPage:
			kind = "branch"
		}
		out[kind] = append(out[kind], n)
		if kind == "free" {
			continue
		}
		for range order.Uint32(image[n*size+12:]) {
			n++
			out["overflow"] = append(out["overflow"], n)
		}
	}
	return out
}

// samples is how many pages of a kind are damaged in one way.
const samples = 6

// spoilers damage a page.
var spoilers = map[string]func(r *rand.Rand, page []byte){
	"one bit":           func(r *rand.Rand, p []byte) { p[r.IntN(len(p))] ^= 1 << r.IntN(8) },
	"one bit in front":  func(r *rand.Rand, p []byte) { p[r.IntN(96)] ^= 1 << r.IntN(8) },
	"some bytes":        func(r *rand.Rand, p []byte) { noise(r, p[r.IntN(len(p)-64):][:1+r.IntN(63)]) },
	"a byte of entries": func(r *rand.Rand, p []byte) { p[r.IntN(512)] = byte(r.Uint32()) },
	"a sector":          func(r *rand.Rand, p []byte) { noise(r, p[sector*r.IntN(len(p)/sector):][:sector]) },
	"zeros":             func(_ *rand.Rand, p []byte) { clear(p) },
	"all ones":          func(r *rand.Rand, p []byte) { copy(p[r.IntN(64):], bytes.Repeat([]byte{0xff}, 8)) },
}

func noise(r *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

// TestDamageIsNamedAndLeft spoils every kind of page in every way: either the
// journal is refused, by name and with the remedy, and left as it is to the
// last byte, or it says exactly what it said.
func TestDamageIsNamedAndLeft(t *testing.T) {
	t.Parallel()
	seed := number(t, seedVariable, time.Now().UnixNano())
	t.Logf("%s=%d", seedVariable, seed)
	s := makeSound(t)
	for kind, pages := range s.kinds {
		for how, spoil := range spoilers {
			t.Run(kind+"/"+how, func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(uint64(seed), uint64(len(kind)*100+len(how))))
				found := 0
				for range samples {
					image := bytes.Clone(s.image)
					n := pages[random.IntN(len(pages))]
					spoil(random, image[n*os.Getpagesize():][:os.Getpagesize()])
					if refused(t, s, image, fmt.Sprintf("page %d", n)) {
						found++
					}
				}
				if sure := how == "zeros" && kind != "free"; sure && found < samples {
					t.Errorf("only %d of %d pages full of zeros were found", found, samples)
				}
				if kind == "free" && found > 0 {
					t.Errorf("%d free pages were taken for damaged", found)
				}
			})
		}
	}
}

// TestTruncatedIsNamedAndLeft: the same for a file that is too short.
func TestTruncatedIsNamedAndLeft(t *testing.T) {
	t.Parallel()
	s := makeSound(t)
	random := rand.New(rand.NewPCG(1, 2))
	used := len(s.image)
	for _, n := range []int{0, 1, 79, 80, 512, 4096, 5000, 8192, 12288, random.IntN(used / 2), random.IntN(used / 4), random.IntN(used / 8)} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			if !refused(t, s, s.image[:n], "the rest") {
				t.Error("it was taken for whole")
			}
		})
	}
}

// refused says whether a file is refused as it must be. Otherwise it must say
// what it said.
func refused(t *testing.T, s sound, image []byte, what string) bool {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	write(t, path, image)
	j := open(t, dir)
	defer j.Close()
	_, err := j.Lead(t.Context())
	if err == nil {
		if got := contents(t, j); got != s.says {
			t.Errorf("%s: the journal says something else than it did", what)
		}
		return false
	}
	var (
		damage *DamageError
		newer  *NewerError
	)
	if !errors.As(err, &damage) && !errors.As(err, &newer) {
		t.Errorf("%s: %T %v; want a damaged journal", what, err, err)
	}
	checkWords(t, err, path)
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, image) {
		t.Errorf("%s: the damaged journal was changed (%v)", what, err)
	}
	return true
}

// checkWords: a person is told which file, once, and what to do.
func checkWords(t *testing.T, err error, path string) {
	t.Helper()
	text := err.Error()
	if strings.Count(text, path) != 1 || !strings.Contains(text, "left as it is") && !strings.Contains(text, "left as it was") && !strings.Contains(text, "it was left") {
		t.Errorf("it does not say what it must: %v", err)
	}
	if !strings.Contains(text, "restore the file from a backup") && !strings.Contains(text, "install that version") {
		t.Errorf("no remedy: %v", err)
	}
	for _, bad := range []string{"runtime error", "nil pointer", "unexpected fault", "goroutine"} {
		if strings.Contains(text, bad) {
			t.Errorf("it says %q: %v", bad, err)
		}
	}
	if strings.Count(text, journal.ErrCorrupt.Error()) > 1 || strings.Count(text, journal.ErrNewer.Error()) > 1 {
		t.Errorf("it says things twice: %v", err)
	}
}

// TestUsedPageListedAsFree: it would be overwritten by what comes next.
func TestUsedPageListedAsFree(t *testing.T) {
	t.Parallel()
	s := makeSound(t)
	image := bytes.Clone(s.image)
	list := image[s.kinds["free list"][0]*os.Getpagesize():]
	order := binary.NativeEndian
	n := order.Uint16(list[10:])
	order.PutUint16(list[10:], n+1)
	order.PutUint64(list[pageHeader+8*int(n):], uint64(s.kinds["leaf"][0]))
	if !refused(t, s, image, "the list of free pages") {
		t.Error("it was not found")
	}
}
