// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// memory is how much memory, in GiB, the tests of one fault may come to use
// before the collector has to work harder, and how much address space.
const (
	memory = 3
	space  = 10
)

// verdict is how one stage ended.
type verdict struct {
	failed  bool
	timeout bool
	killer  string // the test that failed first, or the program
	failure []string
	whole   bool // the failure is a counterexample as it was printed
	took    time.Duration
}

// errUnbuilt is code that does not compile, with what the compiler says.
var errUnbuilt = errors.New("does not build")

// environment is what the tests of a copy run in: on their share of the
// processors, with bounded memory.
func environment(parallel int, tree string) []string {
	return append(
		os.Environ(),
		"EXPLORE_BUDGET=1", "GOWORK=off", "GOFLAGS=", "GOTMPDIR="+buildFolder(tree),
		"GOMEMLIMIT="+strconv.Itoa(memory)+"GiB",
		"GOMAXPROCS="+strconv.Itoa(max(1, runtime.NumCPU()/parallel)),
	)
}

// execute runs a stage in a copy of the repository until its first failure. The
// limit is for the tests alone: how long it takes to compile them says nothing.
func (s stage) execute(ctx context.Context, dir string, parallel int, limit time.Duration) (verdict, error) {
	c := clock{limit: limit}
	c.ctx, c.cancel = context.WithCancel(ctx)
	defer c.cancel()
	var v verdict
	var err error
	if len(s.program) > 0 {
		v, err = s.runProgram(&c, dir, parallel)
	} else {
		v, err = s.runTests(&c, dir, parallel)
	}
	if v.took = c.stop(); ctx.Err() != nil {
		return v, ctx.Err()
	}
	if c.late && !v.failed && err == nil {
		return verdict{timeout: true, killer: s.String(), took: v.took}, nil
	}
	return v, err
}

// clock bounds the time from when tests begin.
type clock struct {
	ctx    context.Context
	cancel context.CancelFunc
	limit  time.Duration
	begun  time.Time
	timer  *time.Timer
	late   bool // after stop: the time ran out
}

func (c *clock) start() {
	if c.begun.IsZero() {
		c.begun, c.timer = time.Now(), time.AfterFunc(c.limit, c.cancel)
	}
}

func (c *clock) stop() time.Duration {
	if c.timer == nil {
		return 0
	}
	c.late = !c.timer.Stop()
	return time.Since(c.begun)
}

func (s stage) command(ctx context.Context, dir string, parallel int, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, environment(parallel, dir)
	if s.seed != "" {
		cmd.Env = append(cmd.Env, "EXPLORE_SEED="+s.seed)
	}
	cmd.WaitDelay = 5 * time.Second
	alone(cmd)
	return cmd
}

// runTests reads the events of go test and stops it at the first failure. Go has
// a limit of its own too, somewhat later than ours.
func (s stage) runTests(c *clock, dir string, parallel int) (verdict, error) {
	args := []string{"test", "-json", "-failfast", "-vet=off", "-trimpath", "-count=1", "-p", "1", "-timeout", (c.limit + time.Minute).String()}
	if x := bounded(); x != "" {
		args = append(args, "-exec", x)
	}
	if s.run != "" {
		args = append(args, "-run", s.run)
	}
	cmd := s.command(c.ctx, dir, parallel, append(args, s.pkg)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return verdict{}, err
	}
	end, err := begin(cmd)
	if err != nil {
		return verdict{}, err
	}
	defer end()
	var r reader
	d := json.NewDecoder(out)
	for r.killer == "" && r.unbuilt == nil {
		var e event
		if d.Decode(&e) != nil {
			break
		}
		if e.Action == "start" {
			c.start()
		}
		r.take(e)
	}
	ended := c.ctx.Err() != nil // nobody waits any more, for whatever it would say
	if r.killer != "" {
		c.cancel()
	}
	err = cmd.Wait()
	switch {
	case r.unbuilt != nil:
		return verdict{}, fmt.Errorf("%w: %s", errUnbuilt, complaints(r.unbuilt))
	case r.killer != "":
		return found(r.killer, strings.Join(r.failure, "")), nil
	case err != nil && !ended && c.ctx.Err() == nil:
		return verdict{}, fmt.Errorf("%w: go test: %w: %s", errUnbuilt, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return verdict{}, nil
}

// runProgram takes an exit code for a finding if the program builds.
func (s stage) runProgram(c *clock, dir string, parallel int) (verdict, error) {
	var out, stderr bytes.Buffer
	build := s.command(c.ctx, dir, parallel, "build", "-trimpath", "-o", "explorer.exe", s.pkg)
	build.Stdout, build.Stderr = &out, &out
	if err := complete(build); err != nil {
		return verdict{}, fmt.Errorf("%w: %s", errUnbuilt, &out)
	}
	cmd := exec.CommandContext(c.ctx, "./explorer.exe", s.program...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, environment(parallel, dir), 5*time.Second
	out.Reset()
	cmd.Stdout, cmd.Stderr = &out, &stderr
	alone(cmd)
	c.start()
	if err := complete(cmd); err == nil || c.ctx.Err() != nil {
		return verdict{}, nil
	}
	if v := found(s.String(), out.String()); v.whole {
		return v, nil
	}
	return found(s.String(), stderr.String()+out.String()), nil
}

func found(killer, output string) verdict {
	v := verdict{failed: true, killer: killer}
	v.failure, v.whole = evidence(output)
	return v
}

// event is what go test -json prints.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
}

// reader follows the events until something fails.
type reader struct {
	output  map[string][]string // by test
	all     []string            // of all tests, for who dies without saying which it was in
	build   []string
	killer  string
	failure []string
	unbuilt []string
}

func (r *reader) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		if r.output == nil {
			r.output = map[string][]string{}
		}
		r.output[key] = append(r.output[key], e.Output)
		r.all = append(r.all, e.Output)
	case "build-output":
		r.build = append(r.build, e.Output)
	case "build-fail":
		r.unbuilt = append(r.build, "")
	case "fail":
		if e.FailedBuild != "" {
			r.unbuilt = append(r.build, "")
			return
		}
		r.killer = strings.TrimPrefix(strings.TrimPrefix(e.Package, core+"/"), module+"/")
		if e.Test != "" {
			r.killer += "." + e.Test
		}
		if r.failure = r.output[key]; e.Test == "" {
			r.failure = r.all
		}
	}
}

// complaints is what the compiler says, without the package in which.
func complaints(output []string) string {
	said := slices.DeleteFunc(slices.Clone(output), func(l string) bool { return strings.HasPrefix(l, "# ") })
	return strings.Join(excerpt(strings.Join(said, ""), 12), "\n")
}
