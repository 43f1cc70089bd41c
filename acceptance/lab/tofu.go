// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
	"golang.org/x/mod/modfile"
)

// openTofuModule is the Go module of OpenTofu; its version is in tools/tofu.
const openTofuModule = "github.com/opentofu/opentofu"

// buildNote is how often a long build says that it is still alive.
const buildNote = 20 * time.Second

// BuildOpenTofu returns the OpenTofu binary of the version pinned in
// tools/tofu/go.mod, from the cache or freshly built. A build from nothing
// compiles some 1,800 packages: about ten minutes on two idle cores. module is
// the folder of the project's go.mod.
func BuildOpenTofu(ctx context.Context, module string, progress Progress) (string, error) {
	tools := filepath.Join(module, "tools", "tofu")
	version, err := pinnedVersion(filepath.Join(tools, "go.mod"))
	if err != nil {
		return "", err
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "opentofu", version+"-"+runtime.GOOS+"-"+runtime.GOARCH)
	binary := filepath.Join(dir, executable("tofu"))
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the cache folder of OpenTofu: %w", err)
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(dir, "lock")).Lock()
	if err != nil {
		return "", fmt.Errorf("lock the cache of OpenTofu: %w", err)
	}
	defer unlock()
	if _, err := os.Stat(binary); err == nil {
		return binary, nil // somebody else built it meanwhile
	}
	if err := buildAloud(ctx, tools, binary, version, progress); err != nil {
		return "", err
	}
	return binary, nil
}

// buildAloud builds next to the final name and moves the binary there, so that
// an interrupted build leaves nothing that looks finished.
func buildAloud(ctx context.Context, tools, binary, version string, progress Progress) error {
	progress("building OpenTofu %s from its Go module (once; kept in %s)", version, filepath.Dir(binary))
	start := time.Now()
	stop := every(buildNote, func() {
		progress("building OpenTofu %s: %s so far, some ten minutes in all on two cores", version, time.Since(start).Round(time.Second))
	})
	defer stop()
	unfinished := binary + ".unfinished"
	// Built as its releases are: otherwise it takes itself for a development
	// version, which no version constraint of a configuration admits.
	release := "-s -w -X " + openTofuModule + "/version.dev=no"
	if err := goBuild(ctx, tools, unfinished, openTofuModule+"/cmd/tofu", "-ldflags", release); err != nil {
		return fmt.Errorf("build OpenTofu: %w", err)
	}
	if err := os.Rename(unfinished, binary); err != nil {
		return fmt.Errorf("keep OpenTofu: %w", err)
	}
	progress("OpenTofu %s is built, in %s", version, time.Since(start).Round(time.Second))
	return nil
}

// pinnedVersion is the version of OpenTofu that a go.mod file requires.
func pinnedVersion(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("find the version of OpenTofu: %w", err)
	}
	mod, err := modfile.Parse(file, text, nil)
	if err != nil {
		return "", fmt.Errorf("find the version of OpenTofu: %w", err)
	}
	for _, r := range mod.Require {
		if r.Mod.Path == openTofuModule {
			return r.Mod.Version, nil
		}
	}
	return "", errors.New(file + " does not require " + openTofuModule)
}

// every calls f again and again until stop is called; stop waits for a call that
// is under way.
func every(period time.Duration, f func()) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				f()
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}
