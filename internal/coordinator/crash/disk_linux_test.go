// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package crash

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sector is what a disk writes whole or not at all, in bytes.
const sector = 512

// inode is one file: as programs see it, as it is known to be on the disk, and
// what was done in between.
type inode struct {
	seen, safe []byte
	since      []op
}

// names are the files of a folder.
type names map[string]*inode

// disk is a folder on a disk that may lose power. Names that were not
// synchronised may be lost, the latest first, as file systems keep the order of
// what is done to them; contents that were not may be lost in any part.
type disk struct {
	dir        string
	seen, safe names
	since      []names // what the names were after each change since the last synchronisation
}

func newDisk(dir string) *disk { return &disk{dir: dir, seen: names{}, safe: names{}} }

// renamed notes that the names have changed.
func (d *disk) renamed() { d.since = append(d.since, maps.Clone(d.seen)) }

// do carries out a step.
func (d *disk) do(o op) {
	if o.failed {
		return
	}
	file := d.seen[o.path]
	switch o.action {
	case create:
		d.seen[o.path] = &inode{}
		d.renamed()
	case unlink:
		delete(d.seen, o.path)
		d.renamed()
	case link:
		d.seen[o.to] = file
		d.renamed()
	case rename:
		d.seen[o.to] = file
		delete(d.seen, o.path)
		d.renamed()
	case syncFile:
		if o.path == d.dir {
			d.safe, d.since = maps.Clone(d.seen), nil
		} else if file != nil {
			file.safe, file.since = bytes.Clone(file.seen), nil
		}
	case write, truncate:
		if file != nil { // it may have been unlinked
			file.seen = o.onto(bytes.Clone(file.seen)) // it may be safe, or handed out
			file.since = append(file.since, o)
		}
	case mkdir, lock, closing, say:
	}
}

// onto is a content after a write or truncation, which it may share.
func (o op) onto(content []byte) []byte {
	end := int(o.at) + len(o.data)
	if o.action == truncate {
		content = content[:min(len(content), end)]
	}
	if end > len(content) {
		content = append(content, make([]byte, end-len(content))...)
	}
	copy(content[o.at:], o.data)
	return content
}

// lost is the folder when nothing is left that was not synchronised.
func (d *disk) lost() map[string][]byte {
	out := map[string][]byte{}
	for name, f := range d.safe {
		out[name] = f.safe
	}
	return out
}

// kept is the folder when everything is left.
func (d *disk) kept() map[string][]byte {
	out := map[string][]byte{}
	for name, f := range d.seen {
		out[name] = f.seen
	}
	return out
}

// torn is the folder when parts are left.
func (d *disk) torn(random *rand.Rand) map[string][]byte {
	list := d.safe
	if n := random.IntN(len(d.since) + 1); n > 0 {
		list = d.since[n-1]
	}
	out := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		out[name] = list[name].torn(random)
	}
	return out
}

func (f *inode) torn(random *rand.Rand) []byte {
	content := bytes.Clone(f.safe)
	part := random.Float64()
	for _, o := range f.since {
		if o.action == truncate {
			if random.IntN(2) == 0 {
				content = o.onto(content)
			}
			continue
		}
		for at := 0; at < len(o.data); at += sector {
			if random.Float64() < part {
				end := min(at+sector, len(o.data))
				content = op{action: write, at: o.at + int64(at), data: o.data[at:end]}.onto(content)
			}
		}
	}
	return content
}

// build makes a folder with these files.
func build(target, original string, files map[string][]byte) error {
	if err := os.Mkdir(target, 0o700); err != nil {
		return err
	}
	for name, content := range files {
		if !strings.HasPrefix(name, original+"/") {
			continue
		}
		if err := sparse(filepath.Join(target, filepath.Base(name)), content); err != nil {
			return err
		}
	}
	return nil
}

// sparse writes a file without its zeros, which take no time to read, either.
func sparse(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	const page = 4096
	zeros := make([]byte, page)
	for at := 0; at < len(content) && err == nil; at += page {
		if part := content[at:min(at+page, len(content))]; !bytes.Equal(part, zeros[:len(part)]) {
			_, err = f.WriteAt(part, int64(at))
		}
	}
	return errors.Join(err, f.Truncate(int64(len(content))), f.Close())
}
