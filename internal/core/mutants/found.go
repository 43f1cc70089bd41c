// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// wholeMark is what the first line of a note says behind the killer where the
// explorer's counterexample follows as it was printed: explore -replay makes its
// history again, and from the first # on it is a story of package admission.
const wholeMark = ": a history and its story, whole"

const (
	mostLines = 60  // of other output that a note keeps
	mostRunes = 400 // of a line of it
)

// Note writes beside each patch that was found what found it and what that said:
// the killing counterexample, as NAME.found. What survived loses its note; of
// what is unfit nothing is known, and its note stays.
func Note(dir string, results []Result) error {
	for _, r := range results {
		file := filepath.Join(dir, r.Patch.Name+".found")
		var err error
		switch {
		case r.Outcome.Dead():
			err = os.WriteFile(file, []byte(note(r)), 0o644)
		case r.Outcome == Survived:
			if err = os.Remove(file); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if err != nil {
			return fmt.Errorf("note what was found: %w", err)
		}
	}
	return nil
}

func note(r Result) string {
	first := r.Killer
	if r.Whole {
		first += wholeMark
	}
	return first + "\n\n" + strings.Join(r.Failure, "\n") + "\n"
}

// Story is the script of a note that holds a whole counterexample, to be run as
// a story of package admission. It is false for any other note.
func Story(note string) (string, bool) {
	first, rest, _ := strings.Cut(note, "\n")
	if !strings.HasSuffix(first, wholeMark) {
		return "", false
	}
	_, story, ok := strings.Cut(rest, "\n#")
	return "#" + story, ok
}

// evidence is what to keep of the output of a test or a program that failed: an
// explorer's counterexample as it is, for only a whole one can be made again, and
// the beginning of anything else.
func evidence(output string) (lines []string, whole bool) {
	if lines = counterexample(output); lines != nil {
		return lines, true
	}
	return excerpt(output, mostLines), false
}

// logged is the beginning of what a test logs; the lines that follow are indented
// by indent, as are none that a program prints.
var logged = regexp.MustCompile(`^ {4}[\w.-]+\.go:\d+: `)

const indent = "        "

// counterexample finds the history and the script of a finding in the output of
// the explorer, or of a test that logs one. It is nil if there is none.
func counterexample(output string) []string {
	var lines []string
	inLog := false
	for l := range strings.Lines(output) {
		l = strings.TrimRight(l, "\r\n\t ")
		said, isLog := l, logged.FindString(l)
		if isLog != "" || inLog {
			said = strings.TrimPrefix(strings.TrimPrefix(l, isLog), indent)
		}
		switch {
		case isLog != "" && hasStory(lines):
			return trimmed(lines)
		case isLog != "":
			lines, inLog = nil, true
		case noise(l):
			continue
		}
		lines = append(lines, said)
	}
	if hasStory(lines) {
		return trimmed(lines)
	}
	return nil
}

// hasStory tells whether there is a script: two lines that say what of, and
// commands.
func hasStory(lines []string) bool {
	for i := range lines {
		if rest := lines[i:]; len(rest) > 3 && strings.HasPrefix(rest[0], "# ") && strings.HasPrefix(rest[1], "# ") && rest[2] == "" {
			return slices.Contains(rest[3:], "----")
		}
	}
	return false
}

// failfile is how rapid names a file that is gone with the copy of the repository.
var failfile = regexp.MustCompile(`-rapid\.failfile="[^"]*" \(or (-rapid\.seed=\d+)\)`)

// excerpt is the beginning of an output: its first n lines that say something,
// and how much is left out. Who dies begins to speak with the panic.
func excerpt(output string, n int) []string {
	var kept []string
	for l := range strings.Lines(output) {
		l = failfile.ReplaceAllString(strings.TrimRight(l, "\r\n\t "), "$1")
		if noise(l) {
			continue
		}
		if r := []rune(l); len(r) > mostRunes {
			l = fmt.Sprintf("%s... (%d characters more)", string(r[:mostRunes]), len(r)-mostRunes)
		}
		kept = append(kept, l)
	}
	kept = trimmed(kept)
	if dies := slices.IndexFunc(kept, dying); dies > 0 && len(kept) > n {
		kept = slices.Concat([]string{fmt.Sprintf("... (%d lines before)", dies)}, kept[dies:])
	}
	if len(kept) > n {
		kept = append(slices.Clone(kept[:n]), fmt.Sprintf("... (%d lines more)", len(kept)-n))
	}
	return kept
}

func dying(l string) bool {
	return strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ")
}

// noise is what go test says of the course of things.
func noise(line string) bool {
	bare := strings.TrimSpace(line)
	return strings.HasPrefix(bare, "=== ") || strings.HasPrefix(bare, "--- FAIL: ") || strings.HasPrefix(bare, "--- PASS: ") || strings.HasPrefix(bare, "--- SKIP: ")
}

// trimmed leaves out empty lines at both ends.
func trimmed(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
