// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"bytes"
	"io"
	"regexp"
)

// A saved plan is applied in the name of "apply", also one that destroys, and so
// it ends with other words than "destroy" does: with those of an apply, and with
// the outputs that are left.

const (
	applyComplete   = "Apply complete! Resources: "
	destroyComplete = "Destroy complete! Resources: "
)

// appliedLine is the last line of an applied plan up to what it destroyed. An
// import cannot be part of a destroy.
var appliedLine = regexp.MustCompile(`Apply complete! Resources: 0 added, 0 changed, (\d+) destroyed\.`)

// asDestroyed is a line in the words of a destroy.
func asDestroyed(line []byte) []byte {
	return appliedLine.ReplaceAll(line, []byte(destroyComplete+"${1} destroyed."))
}

// outputsBegin is where the outputs begin, with colours or without.
var outputsBegin = regexp.MustCompile("(?:\x1b\\[0m\x1b\\[1m\x1b\\[32m)?\nOutputs:\n")

// ending rewrites the end of an applied plan into that of a destroy. What comes
// before is handed on as it comes.
type ending struct {
	out io.Writer
	// begun is what there is of a line so far that may be the last.
	begun []byte
	// inLine is true inside of a line that is not.
	inLine bool
	// last is everything from the last line on; nil before.
	last []byte
}

// Write fails when the stream is gone, so that the CLI learns of it.
func (e *ending) Write(p []byte) (int, error) {
	if e.last != nil {
		e.last = append(e.last, p...)
		return len(p), nil
	}
	var pass []byte
	for i, c := range p {
		switch {
		case e.inLine:
			pass = append(pass, c)
			e.inLine = c != '\n'
			continue
		case c != '\n':
			e.begun = append(e.begun, c)
			if n := min(len(e.begun), len(applyComplete)); string(e.begun[:n]) == applyComplete[:n] {
				continue
			}
			e.inLine = true
		case appliedLine.Match(e.begun):
			e.last = append(append(e.last, e.begun...), p[i:]...)
			e.begun = nil
		default:
			e.begun = append(e.begun, c)
		}
		if e.last != nil {
			break
		}
		pass = append(pass, e.begun...)
		e.begun = nil
	}
	if len(pass) > 0 {
		if _, err := e.out.Write(pass); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Close writes the end. The stream stays open.
func (e *ending) Close() error {
	end := append(e.begun, e.last...)
	if e.last != nil {
		end = asDestroyed(e.last)
		if at := outputsBegin.FindIndex(end); at != nil {
			end = end[:at[0]]
		}
	}
	e.begun, e.last = nil, nil
	if len(end) == 0 {
		return nil
	}
	_, err := e.out.Write(end)
	return err
}

// jsonEnding does the same with lines of JSON: it is to be given each of them,
// and says what to print in its place, nil for nothing.
func jsonEnding(line []byte) []byte {
	switch typeOf(line) {
	case "outputs":
		return nil
	case "change_summary":
		if appliedLine.Match(line) {
			return bytes.Replace(asDestroyed(line), []byte(`"operation":"apply"`), []byte(`"operation":"destroy"`), 1)
		}
	}
	return line
}

// each calls a function with each line that is written to it, and hands on what
// that returns. A line without an end is not handed on before Close.
type each struct {
	out  io.Writer
	line func([]byte) []byte
	rest []byte
}

// Write fails when the stream is gone, so that the CLI learns of it.
func (e *each) Write(p []byte) (int, error) {
	e.rest = append(e.rest, p...)
	for {
		end := bytes.IndexByte(e.rest, '\n')
		if end < 0 {
			return len(p), nil
		}
		line := e.line(e.rest[:end+1])
		e.rest = e.rest[end+1:]
		if line == nil {
			continue
		}
		if _, err := e.out.Write(line); err != nil {
			return 0, err
		}
	}
}

// Close hands on what is left. The stream stays open.
func (e *each) Close() error {
	rest := e.rest
	e.rest = nil
	if len(rest) == 0 {
		return nil
	}
	_, err := e.out.Write(rest)
	return err
}
