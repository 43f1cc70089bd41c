// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"bytes"
	"io"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// NewLogger returns the logger for the lines of provider processes, in the form
// in which the CLI writes them for the providers that it starts itself: named
// "provider", with the name of the program added for what the process writes.
// The level is a value of TF_LOG or TF_LOG_PROVIDER: "" and OFF write nothing,
// JSON writes everything as JSON, and what is no level counts as TRACE.
func NewLogger(w io.Writer, level string) hclog.Logger {
	options := &hclog.LoggerOptions{Name: "provider", Output: w, IndependentLevels: true}
	switch strings.ToUpper(level) {
	case "", "OFF":
		return discardLogger()
	case "JSON":
		options.Level, options.JSONFormat = hclog.Trace, true
	default:
		if options.Level = hclog.LevelFromString(level); options.Level == hclog.NoLevel {
			options.Level = hclog.Trace
		}
	}
	return hclog.New(options)
}

// discardLogger says that it writes nothing, which keeps go-plugin from parsing
// the lines of the processes.
func discardLogger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Level: hclog.Off, Output: io.Discard})
}

// lineLogger writes what a provider prints after its start, line by line: a
// provider has nothing to print, so the CLI calls it unexpected, too.
type lineLogger struct {
	logger hclog.Logger
	// origin names the provider and the stream.
	origin string
	line   []byte
}

// Write takes any part of the stream and never fails. It is not safe for
// concurrent use; go-plugin calls it from one goroutine.
func (w *lineLogger) Write(p []byte) (int, error) {
	w.line = append(w.line, p...)
	for {
		line, rest, ended := bytes.Cut(w.line, []byte{'\n'})
		if !ended && len(w.line) < maxTrace {
			return len(p), nil
		}
		w.logger.Warn("unexpected data", w.origin, string(line))
		w.line = append(w.line[:0], rest...)
		if !ended {
			return len(p), nil
		}
	}
}
