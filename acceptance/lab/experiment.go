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
	"strings"
	"sync"
)

// Setup says what an experiment consists of.
type Setup struct {
	Cloud CloudConfig
	// Protocol is the provider's plugin protocol, 6 if zero.
	Protocol int
	// LogFile is where the cloud's activity log goes; a file that is removed
	// with the experiment if empty.
	LogFile string
	// Env is added to the environment of every run.
	Env []string
}

// Experiment is one machine with one cloud. All its workspaces belong to one
// user, so coordinated runs in them share one embedded coordinator.
type Experiment struct {
	Lab   *Lab
	Cloud *Cloud
	setup Setup
	home  string

	mu   sync.Mutex
	runs []*Run
	// homes are those of workspaces elsewhere.
	homes []string
	// locks are the lock files as init has left them.
	locks map[*Workspace]string
}

// Experiment sets one up. Close it to stop what it started.
func (l *Lab) Experiment(ctx context.Context, setup Setup) (e *Experiment, err error) {
	if setup.Protocol == 0 {
		setup.Protocol = 6
	}
	// The name is short because sockets below it must fit into 104 bytes.
	home, err := os.MkdirTemp("", "tfw-")
	if err != nil {
		return nil, fmt.Errorf("make a home: %w", err)
	}
	e = &Experiment{Lab: l, setup: setup, home: home, locks: make(map[*Workspace]string)}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	if err := makeHome(home); err != nil {
		return nil, err
	}
	for _, dir := range []string{e.path("cloud"), e.FixtureDir()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make a home: %w", err)
		}
	}
	if err := writeCLIConfig(e.path("cli.tfrc"), l.mirror(setup.Protocol)); err != nil {
		return nil, err
	}
	if setup.LogFile == "" {
		setup.LogFile = e.path("cloud", "activity.jsonl")
	}
	e.Cloud, err = startCloud(ctx, l.Simcloud, e.path("cloud"), setup.LogFile, setup.Cloud)
	return e, err
}

// Close stops the runs that are still going, the cloud and the coordinator, and
// removes the home.
func (e *Experiment) Close() error {
	errs := e.stopRuns()
	if e.Cloud != nil {
		errs = append(errs, e.Cloud.stop())
	}
	errs = append(errs, e.StopCoordinator(), e.stopElsewhere(), e.checkLocks(), os.RemoveAll(e.home))
	return errors.Join(errs...)
}

// stopRuns interrupts the runs that are still going, as Ctrl-C does, and waits
// for them.
func (e *Experiment) stopRuns() (errs []error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.runs {
		if !r.Exited() {
			errs = append(errs, r.Interrupt())
		}
	}
	for _, r := range e.runs {
		r.waitOrKill()
	}
	return errs
}

// TempDir is the folder for temporary files of all runs.
func (e *Experiment) TempDir() string { return e.path("tmp") }

// StateDir is where the embedded coordinator keeps its files.
func (e *Experiment) StateDir() string { return e.path("state", "tfweaver") }

// RuntimeDir is the folder of the sockets.
func (e *Experiment) RuntimeDir() string { return e.path("run") }

func (e *Experiment) path(elements ...string) string {
	return filepath.Join(append([]string{e.home}, elements...)...)
}

// homeEnvironment makes programs live in a home.
func homeEnvironment(home string) []string {
	return []string{
		"HOME=" + home, "USERPROFILE=" + home, "TMPDIR=" + filepath.Join(home, "tmp"),
		"XDG_RUNTIME_DIR=" + filepath.Join(home, "run"), "XDG_STATE_HOME=" + filepath.Join(home, "state"),
	}
}

// environment is what every run of an actor sees. Nothing of the surrounding
// environment comes through but what programs need to run at all.
func (e *Experiment) environment(actor string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "USER=" + actor,
		"TF_CLI_CONFIG_FILE=" + e.path("cli.tfrc"), "CHECKPOINT_DISABLE=1", "TF_INPUT=0",
		EnvTerraform + "=" + e.Lab.CLI.Path, "TFWEAVER_ACTOR=" + actor,
		"SIMCLOUD_ENDPOINT=" + e.Cloud.Endpoint, "SIMCLOUD_ACTOR=" + actor,
		envFixtureDir + "=" + e.FixtureDir(),
	}
	env = append(env, homeEnvironment(e.home)...)
	if token := e.Cloud.tokens[actor]; token != "" {
		env = append(env, "SIMCLOUD_TOKEN="+token)
	}
	if runtime.GOOS == "windows" {
		for _, name := range []string{"SystemRoot", "LOCALAPPDATA", "TEMP", "TMP"} {
			env = append(env, name+"="+os.Getenv(name))
		}
	}
	return append(env, e.setup.Env...)
}

// reportLines bounds what a report shows of one stream of one run.
const reportLines = 60

// Report is all that happened so far, for a person who has to find out why an
// experiment failed: what every run said, the activity log, and what the
// coordinator said.
func (e *Experiment) Report() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, r := range e.runs {
		fmt.Fprintf(&b, "--- %s: %s\n%s\n", r.Name, r.fate(), tail(r.Stdout(), reportLines))
		if text := r.Stderr(); text != "" {
			fmt.Fprintf(&b, "--- its standard error\n%s\n", tail(text, reportLines))
		}
	}
	for _, file := range []string{e.Cloud.LogFile, e.path("state", "tfweaver", "serve.log")} {
		text, err := os.ReadFile(file)
		if err != nil {
			text = []byte(err.Error())
		}
		fmt.Fprintf(&b, "--- %s\n%s\n", filepath.Base(file), tail(string(text), 4*reportLines))
	}
	return b.String()
}

// fate says when a run started and how it ended.
func (r *Run) fate() string {
	const clock = "15:04:05.000"
	if !r.Exited() {
		return "running since " + r.Started.Format(clock)
	}
	return fmt.Sprintf("%s to %s, exit code %d", r.Started.Format(clock), r.Ended.Format(clock), r.ExitCode)
}

// keep remembers a run for the report.
func (e *Experiment) keep(r *Run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.runs = append(e.runs, r)
}
