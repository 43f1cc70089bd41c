// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"io"
	"log/slog"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// LogVariable turns on tfweaver's own log on standard error: debug, info,
// warn or error.
const LogVariable = "TFWEAVER_LOG"

// ownLog is tfweaver's own log.
func ownLog(env arguments.Environment, stderr io.Writer) *slog.Logger {
	level, on := levelOf(env.Get(LogVariable))
	if !on {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
}

// levelTrace is Terraform's TRACE, below slog's lowest.
const levelTrace = slog.LevelDebug - 4

func levelOf(name string) (slog.Level, bool) {
	switch strings.ToUpper(name) {
	case "", "OFF":
		return 0, false
	case "DEBUG":
		return slog.LevelDebug, true
	case "INFO":
		return slog.LevelInfo, true
	case "WARN":
		return slog.LevelWarn, true
	case "ERROR":
		return slog.LevelError, true
	default:
		return levelTrace, true
	}
}
