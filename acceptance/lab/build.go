// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Progress receives lines that tell a person what takes so long. It may be
// called from several goroutines.
type Progress func(format string, args ...any)

// Binaries are the compiled programs of the project.
type Binaries struct {
	// Tfweaver is the wrapper, Simcloud the simulated cloud.
	Tfweaver, Simcloud string
	// Provider is the simulated cloud's Terraform provider by plugin protocol
	// version, 5 and 6.
	Provider map[int]string
	// Fixture is the test provider by plugin protocol version, 5 and 6: the
	// providers five and six.
	Fixture map[int]string
}

// target is one program to compile.
type target struct {
	name, pkg string
	flags     []string
}

func targets() []target {
	provider, fixture := "./internal/simcloud/cmd/terraform-provider-simcloud", "./acceptance/fixture"
	protocol5 := []string{"-ldflags", "-X main.protocolVersion=5"}
	return []target{
		{name: "tfweaver", pkg: "./wrapper"},
		{name: "simcloud", pkg: "./internal/simcloud/cmd/simcloud"},
		{name: "provider6", pkg: provider},
		{name: "provider5", pkg: provider, flags: protocol5},
		{name: "fixture6", pkg: fixture},
		{name: "fixture5", pkg: fixture, flags: protocol5},
	}
}

// ModuleRoot is the folder of the project's go.mod, found from the working
// directory. It fails outside of the project.
func ModuleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module (is go on PATH?): %w", err)
	}
	file := strings.TrimSpace(string(out))
	if file == "" || file == os.DevNull {
		return "", errors.New("find the module: the working directory is not inside the project")
	}
	return filepath.Dir(file), nil
}

// CacheDir is where compiled programs are kept between runs. It is made if it
// does not exist.
func CacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	dir := filepath.Join(base, "tfweaver")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	return dir, nil
}

// compile brings the binaries of the module up to date in the cache and puts
// hard links to them into dir, so that a later build by another program does not
// change what this one runs.
func compile(ctx context.Context, module, dir string, progress Progress) (Binaries, error) {
	cache, err := binaryCache(module)
	if err != nil {
		return Binaries{}, err
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(cache, "lock")).Lock()
	if err != nil {
		return Binaries{}, fmt.Errorf("lock the binary cache: %w", err)
	}
	defer unlock()
	paths := make(map[string]string)
	for _, t := range targets() {
		progress("building %s", t.name)
		built := filepath.Join(cache, executable(t.name))
		if err := goBuild(ctx, module, built, t.pkg, t.flags...); err != nil {
			return Binaries{}, err
		}
		paths[t.name] = filepath.Join(dir, executable(t.name))
		if err := linkOrCopy(built, paths[t.name]); err != nil {
			return Binaries{}, err
		}
	}
	return Binaries{
		Tfweaver: paths["tfweaver"], Simcloud: paths["simcloud"],
		Provider: map[int]string{5: paths["provider5"], 6: paths["provider6"]},
		Fixture:  map[int]string{5: paths["fixture5"], 6: paths["fixture6"]},
	}, nil
}

// binaryCache is the cache folder of one checkout: two checkouts may hold
// different sources.
func binaryCache(module string) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "lab", shortHash(module))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the binary cache: %w", err)
	}
	return dir, nil
}

// goBuild compiles one program; the error carries the compiler's words.
func goBuild(ctx context.Context, module, out, pkg string, flags ...string) error {
	args := append([]string{"build", "-p", "2"}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "-o", out, pkg)...)
	cmd.Dir = module
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, tail(said.String(), 40))
	}
	return nil
}

func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
