// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"sync"
)

// The summaries of errors of Terraform and OpenTofu that say why nothing of a
// command was done.
const (
	staleMessage = "Saved plan is stale"
	lockMessage  = "Error acquiring the state lock"
)

// sieve hands on what the CLI writes to its standard error, line by line, and
// notes what is said about the state.
type sieve struct {
	out io.Writer
	// quiet leaves out that the plan is stale, and what comes after: it is planned
	// again then, and no error that anybody has to do something about.
	quiet bool

	mu            sync.Mutex
	stale, locked bool
	// held are the lines that may be the frame of what is to be left out.
	held, rest []byte
}

// Write fails when the stream is gone, so that the CLI learns of it.
func (s *sieve) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, p...)
	for {
		end := bytes.IndexByte(s.rest, '\n')
		if end < 0 {
			return len(p), nil
		}
		line := s.rest[:end+1]
		s.rest = s.rest[end+1:]
		if err := s.line(line); err != nil {
			return 0, err
		}
	}
}

func (s *sieve) line(line []byte) error {
	text := unframed(line)
	s.stale = s.stale || strings.HasPrefix(text, "Error: "+staleMessage)
	s.locked = s.locked || strings.HasPrefix(text, "Error: "+lockMessage)
	switch {
	case s.stale && s.quiet:
		s.held = nil
		return nil
	case text == "":
		s.held = append(s.held, line...)
		return nil
	}
	out := append(s.held, line...)
	s.held = nil
	_, err := s.out.Write(out)
	return err
}

// Close hands on what is left. The stream stays open.
func (s *sieve) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := append(s.held, s.rest...)
	s.held, s.rest = nil, nil
	if len(rest) == 0 || s.stale && s.quiet {
		return nil
	}
	_, err := s.out.Write(rest)
	return err
}

// said is what was said about the state.
func (s *sieve) said() (stale, locked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stale, s.locked
}

// drop is the same for lines of JSON.
func (s *sieve) drop(line []byte) bool {
	var l struct {
		Type    string `json:"type"`
		Problem struct {
			Summary string `json:"summary"`
		} `json:"diagnostic"`
	}
	if !bytes.Contains(line, []byte(`"diagnostic"`)) || json.Unmarshal(line, &l) != nil || l.Type != "diagnostic" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = s.stale || l.Problem.Summary == staleMessage
	s.locked = s.locked || l.Problem.Summary == lockMessage
	return s.quiet && l.Problem.Summary == staleMessage
}

// escape is a colour of a terminal.
var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// unframed is a line without colours and without the frame that Terraform draws
// around an error.
func unframed(line []byte) string {
	return strings.TrimSpace(strings.TrimLeft(escape.ReplaceAllString(string(line), ""), "╷│ "))
}
