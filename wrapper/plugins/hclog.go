// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"bytes"
	"context"
	"io"
	"log"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// levelTrace is the slog level of hclog's Trace, one step below Debug.
const levelTrace = slog.LevelDebug - 4

// hclogger lets go-plugin write to a slog.Logger. Provider log lines arrive
// here too, with the level and the fields that the provider gave them.
type hclogger struct {
	log     *slog.Logger
	name    string
	implied []any
}

var _ hclog.Logger = (*hclogger)(nil)

func newHCLogger(log *slog.Logger) hclog.Logger {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &hclogger{log: log}
}

func slogLevel(level hclog.Level) slog.Level {
	switch level {
	case hclog.Trace:
		return levelTrace
	case hclog.Info:
		return slog.LevelInfo
	case hclog.Warn:
		return slog.LevelWarn
	case hclog.Error:
		return slog.LevelError
	default:
		return slog.LevelDebug
	}
}

// Log writes one line; the level Off writes nothing.
func (l *hclogger) Log(level hclog.Level, msg string, args ...any) {
	if level == hclog.Off {
		return
	}
	log := l.log
	if l.name != "" {
		log = log.With("plugin", l.name)
	}
	log.Log(context.Background(), slogLevel(level), msg, args...)
}

// Trace, Debug, Info, Warn and Error write one line of that level.
func (l *hclogger) Trace(msg string, args ...any) { l.Log(hclog.Trace, msg, args...) }
func (l *hclogger) Debug(msg string, args ...any) { l.Log(hclog.Debug, msg, args...) }
func (l *hclogger) Info(msg string, args ...any)  { l.Log(hclog.Info, msg, args...) }
func (l *hclogger) Warn(msg string, args ...any)  { l.Log(hclog.Warn, msg, args...) }
func (l *hclogger) Error(msg string, args ...any) { l.Log(hclog.Error, msg, args...) }

func (l *hclogger) enabled(level hclog.Level) bool {
	return l.log.Enabled(context.Background(), slogLevel(level))
}

// IsTrace, IsDebug, IsInfo, IsWarn and IsError say whether a line of that
// level would be written.
func (l *hclogger) IsTrace() bool { return l.enabled(hclog.Trace) }
func (l *hclogger) IsDebug() bool { return l.enabled(hclog.Debug) }
func (l *hclogger) IsInfo() bool  { return l.enabled(hclog.Info) }
func (l *hclogger) IsWarn() bool  { return l.enabled(hclog.Warn) }
func (l *hclogger) IsError() bool { return l.enabled(hclog.Error) }

// ImpliedArgs returns the fields added by With.
func (l *hclogger) ImpliedArgs() []any { return l.implied }

// With returns a logger that adds fields to every line.
func (l *hclogger) With(args ...any) hclog.Logger {
	implied := append(append([]any(nil), l.implied...), args...)
	return &hclogger{log: l.log.With(args...), name: l.name, implied: implied}
}

// Name returns the name under which lines are written.
func (l *hclogger) Name() string { return l.name }

// Named returns a logger with a further name part.
func (l *hclogger) Named(name string) hclog.Logger {
	if l.name != "" {
		name = l.name + "." + name
	}
	return l.ResetNamed(name)
}

// ResetNamed returns a logger with another name.
func (l *hclogger) ResetNamed(name string) hclog.Logger {
	return &hclogger{log: l.log, name: name, implied: l.implied}
}

// SetLevel does nothing: the slog handler decides what is written.
func (l *hclogger) SetLevel(hclog.Level) {}

// GetLevel returns the lowest level that is written.
func (l *hclogger) GetLevel() hclog.Level {
	for _, level := range []hclog.Level{hclog.Trace, hclog.Debug, hclog.Info, hclog.Warn, hclog.Error} {
		if l.enabled(level) {
			return level
		}
	}
	return hclog.Off
}

// StandardLogger returns a logger of the log package that writes here.
func (l *hclogger) StandardLogger(opts *hclog.StandardLoggerOptions) *log.Logger {
	return log.New(l.StandardWriter(opts), "", 0)
}

// StandardWriter returns a writer that turns lines into debug lines.
func (l *hclogger) StandardWriter(*hclog.StandardLoggerOptions) io.Writer {
	return &lineLogger{logger: l}
}

// lineLogger writes what a provider prints after its start, line by line.
type lineLogger struct {
	logger hclog.Logger
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
		w.logger.Debug(string(line))
		w.line = append(w.line[:0], rest...)
		if !ended {
			return len(p), nil
		}
	}
}
