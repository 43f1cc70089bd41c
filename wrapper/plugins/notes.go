// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// maxNotes bounds how many packages are remembered; the oldest are forgotten.
const maxNotes = 512

// Notes remember on the disk which plugin protocol version a provider package
// speaks, so that the CLI can be told before the provider is started, and one
// that a run does not need is not started at all.
//
// A note is found by the checksum of the package, which was verified against the
// lock file in this run: the same bytes speak the same protocol. So all that a
// wrong note can do is to announce another version than the program turns out to
// speak, which is an error before any call, and removes the note. Notes that are
// damaged count as none; without a place for them there are none.
type Notes struct{ dir string }

// note is the content of a note's file. The checksum is in it to tell one that is
// in the wrong place or cut off.
type note struct {
	Package  string `json:"package"`
	Protocol int    `json:"protocol"`
}

// NewNotes keeps notes in a folder, which is made when it is needed. An empty
// path keeps none.
func NewNotes(dir string) Notes { return Notes{dir: dir} }

// Protocol returns what was noted of the package with a verified checksum, 0 when
// nothing was.
func (n Notes) Protocol(hash string) int {
	if n.dir == "" || hash == "" {
		return 0
	}
	text, err := readBounded(n.path(hash), 1<<10)
	if err != nil {
		return 0
	}
	var found note
	if json.Unmarshal(text, &found) != nil || found.Package != hash || found.Protocol != 5 && found.Protocol != 6 {
		return 0
	}
	return found.Protocol
}

// Remember notes what the package with a verified checksum speaks. That it cannot
// be noted is no reason to stop anything.
func (n Notes) Remember(hash string, protocol int) error {
	if n.dir == "" || hash == "" {
		return nil
	}
	text, err := json.Marshal(note{Package: hash, Protocol: protocol})
	if err != nil {
		return fmt.Errorf("note a protocol version: %w", err)
	}
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return fmt.Errorf("note a protocol version: %w", err)
	}
	n.tidy()
	return replaceFile(n.path(hash), text)
}

// Forget removes a note.
func (n Notes) Forget(hash string) {
	if n.dir != "" && hash != "" {
		_ = os.Remove(n.path(hash)) // one that stays is found wrong again
	}
}

func (n Notes) path(hash string) string {
	sum := sha256.Sum256([]byte(hash))
	return filepath.Join(n.dir, hex.EncodeToString(sum[:16]))
}

// replaceFile puts a file into its place as a whole, for its owner only.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "new-")
	if err != nil {
		return fmt.Errorf("note a protocol version: %w", err)
	}
	_, err = f.Write(text)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("note a protocol version: %w", err)
	}
	return nil
}

// tidy removes the oldest notes when there are too many.
func (n Notes) tidy() {
	entries, err := os.ReadDir(n.dir)
	if err != nil || len(entries) < maxNotes {
		return
	}
	age := func(e os.DirEntry) int64 {
		if info, err := e.Info(); err == nil {
			return info.ModTime().UnixNano()
		}
		return 0
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(age(a), age(b)) })
	for _, e := range entries[:len(entries)-maxNotes/2] {
		_ = os.Remove(filepath.Join(n.dir, e.Name()))
	}
}
