// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/hashicorp/go-hclog"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

// providerLog is where the providers' log lines go. The CLI shows them itself
// for the providers that it starts, but not for these; so they go where it would
// have written them, in its form.
func providerLog(env arguments.Environment, stderr io.Writer) (log hclog.Logger, done func()) {
	level := env.Get("TF_LOG_PROVIDER")
	if level == "" {
		level = env.Get("TF_LOG")
	}
	if level == "" {
		return plugins.NewLogger(stderr, ""), func() {}
	}
	out, done := stderr, func() {}
	if path := env.Get("TF_LOG_PATH"); path != "" {
		// What cannot be opened is complained of by the CLI.
		if f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
			out, done = f, func() { _ = f.Close() }
		}
	}
	return plugins.NewLogger(out, level), done
}

// notesDir is where protocol versions are noted, in the user's folder for caches;
// empty where there is none. The environment is that of the run, as everywhere.
func notesDir(env arguments.Environment) string {
	base := cacheDir(env)
	if !filepath.IsAbs(base) {
		return ""
	}
	return filepath.Join(base, "tfweaver", "protocols")
}

// cacheDir is os.UserCacheDir for an environment.
func cacheDir(env arguments.Environment) string {
	home := env.Get("HOME")
	switch runtime.GOOS {
	case "windows":
		return env.Get("LOCALAPPDATA")
	case "darwin":
		if home == "" {
			return ""
		}
		return filepath.Join(home, "Library", "Caches")
	}
	if dir := env.Get("XDG_CACHE_HOME"); dir != "" || home == "" {
		return dir
	}
	return filepath.Join(home, ".cache")
}
