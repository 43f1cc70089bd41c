// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"io"
	"log/slog"
	"os"
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

// providerLog is where the providers' log lines go. The CLI shows them
// itself for the providers that it starts, but not for these.
func providerLog(env arguments.Environment, stderr io.Writer) (log *slog.Logger, done func()) {
	wanted := env.Get("TF_LOG_PROVIDER")
	if wanted == "" {
		wanted = env.Get("TF_LOG")
	}
	level, on := levelOf(wanted)
	if !on {
		return slog.New(slog.DiscardHandler), func() {}
	}
	out, done := stderr, func() {}
	if path := env.Get("TF_LOG_PATH"); path != "" {
		if f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
			out, done = f, func() { _ = f.Close() }
		}
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})), done
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
