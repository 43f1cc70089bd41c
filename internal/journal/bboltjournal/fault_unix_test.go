// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package bboltjournal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// dead puts a device that cannot be synchronised in the place of bbolt's file,
// under its descriptor, and returns what takes it back.
func dead(t *testing.T, db *bbolt.DB) (restore func()) {
	t.Helper()
	field := reflect.ValueOf(db).Elem().FieldByName("file")
	fd := int((*(**os.File)(unsafe.Pointer(field.UnsafeAddr()))).Fd())
	saved, err := unix.Dup(fd)
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err == nil {
		err = errors.Join(unix.Dup2(int(null.Fd()), fd), null.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(unix.Dup2(saved, fd), unix.Close(saved)); err != nil {
			t.Error(err)
		}
	}
}

// failing makes the nth write of the journal fail in one way, and says how many
// writes there were.
type failing struct {
	n, count int
	how      string
	restore  func()
}

func (f *failing) arm(t *testing.T, j *Journal) {
	interpose(j.db, func(write writeAt) writeAt {
		return func(b []byte, off int64) (int, error) {
			f.count++
			if f.count != f.n {
				return write(b, off)
			}
			switch f.how {
			case "full":
				return 0, syscall.ENOSPC
			case "full half-way":
				n, err := write(b[:len(b)/2], off)
				return n, errors.Join(err, syscall.ENOSPC)
			case "input/output error":
				return 0, syscall.EIO
			default: // not synchronised
				n, err := write(b, off)
				f.restore = dead(t, j.db)
				return n, err
			}
		}
	})
}

// heal gives the file back.
func (f *failing) heal() {
	if f.restore != nil {
		f.restore()
	}
}

// operations are all that writes.
var operations = map[string]func(context.Context, *writer) error{
	"append":   func(ctx context.Context, w *writer) error { return w.append(ctx, 1) },
	"group":    func(ctx context.Context, w *writer) error { return w.append(ctx, 9) },
	"snapshot": func(ctx context.Context, w *writer) error { return w.snapshot(ctx, 1000) },
	"trim":     func(ctx context.Context, w *writer) error { return w.j.Trim(ctx, w.epoch, 9) },
}

// TestFailedWrite lets every write of every operation fail in every way: the
// outcome is called unknown, the handle does nothing more until it leads anew,
// and then nothing acknowledged is missing.
func TestFailedWrite(t *testing.T) {
	t.Parallel()
	for name, run := range operations {
		dry := &failing{}
		w := prepared(t, filepath.Join(t.TempDir(), "state"), io.Discard)
		dry.arm(t, w.j)
		if err := run(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		if dry.count < 3 {
			t.Fatalf("%s: %d writes", name, dry.count)
		}
		for _, how := range []string{"full", "full half-way", "input/output error", "not synchronised"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				for n := 1; n <= dry.count; n++ {
					failOnce(t, run, &failing{n: n, how: how})
				}
			})
		}
	}
}

func failOnce(t *testing.T, run func(context.Context, *writer) error, f *failing) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	var seen witness
	w := prepared(t, dir, listener{&seen})
	f.arm(t, w.j)
	err := run(t.Context(), w)
	f.heal()
	var storage *StorageError
	if !errors.Is(err, journal.ErrUnknown) || !errors.As(err, &storage) || !strings.Contains(err.Error(), w.j.Path()) {
		t.Fatalf("write %d: %v; want an unknown outcome and the file", f.n, err)
	}
	if strings.HasPrefix(f.how, "full") && !strings.Contains(err.Error(), "free some space") {
		t.Errorf("write %d: %v; want the remedy", f.n, err)
	}
	for what, again := range map[string]func() error{
		"Append": func() error {
			_, err := w.j.Append(t.Context(), w.epoch, w.last, [][]byte{[]byte("guess")})
			return err
		},
		"Last": func() error { _, err := w.j.Last(t.Context()); return err },
		"Read": func() error { _, _, err := replay(t.Context(), w.j); return err },
	} {
		if err := again(); !errors.Is(err, journal.ErrUnknown) {
			t.Errorf("%s after write %d failed: %v; want unknown", what, f.n, err)
		}
	}
	wrote, tried := seen.wrote, seen.tried
	old := w.epoch
	if err := w.lead(t.Context()); err != nil {
		t.Fatalf("Lead after write %d failed: %v", f.n, err)
	}
	if w.epoch <= old || w.last != wrote && w.last != tried {
		t.Errorf("write %d: epoch %d follows %d, and the last record is %d; acknowledged was %d, tried %d", f.n, w.epoch, old, w.last, wrote, tried)
	}
	if err := w.append(t.Context(), 2); err != nil {
		t.Errorf("Append after write %d failed: %v", f.n, err)
	}
	w.j.Close()
	seen.at = fmt.Sprintf("%s in write %d", f.how, f.n)
	seen.check(t, dir)
}
