// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// accepted says what a patch has to look like, to whoever brings another.
const accepted = "accepted is what git diff (also with --no-prefix) or diff -u prints, with paths from the root of the repository"

// ways are how a patch is put in. One whose surroundings have changed a little
// still goes in; the note says so.
var ways = []struct {
	note string
	args []string
}{
	{"", []string{"git", "apply", "--whitespace=nowarn", "-"}},
	{"with less context", []string{"git", "apply", "-C1", "--recount", "--ignore-whitespace", "--whitespace=nowarn", "-"}},
	{"by guess", []string{"patch", "-F3", "-s", "-f", "--no-backup-if-mismatch", "-r", "-"}},
}

// apply puts a patch in and lists the files that it changes.
func (t tree) apply(ctx context.Context, patch []byte) (files []string, note string, err error) {
	patch = t.naming(patch)
	var first error
	for _, way := range ways {
		for _, level := range levels(patch) {
			args := slices.Insert(slices.Clone(way.args[1:]), len(way.args)-2, level)
			if way.args[0] == "patch" {
				args = append([]string{level}, way.args[1:]...)
			}
			cmd := exec.CommandContext(ctx, way.args[0], args...)
			cmd.Dir, cmd.Env, cmd.Stdin = t.dir, outside(t.dir), bytes.NewReader(patch)
			out, err := cmd.CombinedOutput()
			if err == nil {
				if files, err = t.changed(); err == nil && len(files) == 0 {
					err = errors.New("it changes nothing")
				}
				return files, way.note, err
			}
			if first == nil {
				first = fmt.Errorf("does not apply: %s; %s", complaint(out, err), accepted)
			}
			if err := t.reset(); err != nil {
				return nil, "", err
			}
		}
	}
	return nil, "", first
}

var (
	named    = regexp.MustCompile(`(?m)^(?:---|\+\+\+) ([^\t\n]+)`)
	prefixed = regexp.MustCompile(`^"?[a-z]/`)
)

var header = regexp.MustCompile(`(?m)^--- ([^\t\n]+)(?:\t.*)?\n\+\+\+ ([^\t\n]+)(?:\t.*)?$`)

// naming gives the two sides of a comparison one name, where only one of them is
// a file of the repository: diff -u compares with anything.
func (t tree) naming(patch []byte) []byte {
	return header.ReplaceAllFunc(patch, func(h []byte) []byte {
		m := header.FindSubmatch(h)
		from, to := string(m[1]), string(m[2])
		_, old := t.files[from]
		_, now := t.files[to]
		switch {
		case old == now || from == os.DevNull || to == os.DevNull:
			return h
		case old:
			to = from
		default:
			from = to
		}
		return []byte("--- " + from + "\n+++ " + to)
	})
}

// levels are how many parts of the names in a patch to leave out. Git puts one
// letter before each, unless it is told not to.
func levels(patch []byte) []string {
	plain, below := false, false
	for _, m := range named.FindAllSubmatch(patch, -1) {
		name := string(m[1])
		plain = plain || name != os.DevNull && !prefixed.MatchString(name)
		below = below || strings.HasPrefix(name, "internal/")
	}
	switch {
	case below:
		return []string{"-p0", "-p1"}
	case plain:
		return []string{"-p1", "-p0"}
	}
	return []string{"-p1"}
}

// complaint is what a program says of a patch, in one line and without its advice
// on options that nobody here can give it.
func complaint(out []byte, err error) string {
	var kept []string
	for l := range strings.Lines(string(out)) {
		l, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(l), "error: "), " (allow with")
		if l != "" && !strings.HasPrefix(l, "hint:") && !strings.HasPrefix(l, "warning:") {
			kept = append(kept, l)
		}
	}
	if len(kept) == 0 {
		return err.Error()
	}
	return strings.Join(kept, "; ")
}

// outside is an environment in which git takes the copy for no checkout, and
// speaks English.
func outside(dir string) []string {
	env := slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "GIT_DIR=") || strings.HasPrefix(s, "GIT_WORK_TREE=")
	})
	return append(env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "LC_ALL=C")
}
