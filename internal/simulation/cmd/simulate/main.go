// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command simulate runs simulations of coordination, one seed after the other,
// until it is told to stop, and replays one seed with its event log. See package
// simulation.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/simulation"
)

// onDisk is that every so many seeds keep their journal on disk.
const onDisk = 10

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "simulate:", err)
	}
	os.Exit(status(err))
}

// errFailed: the judge of a seed has found something.
var errFailed = errors.New("a seed failed")

// errUsage: the command line is wrong.
var errUsage = errors.New("see simulate -h")

// status is the exit code: 1 for a seed that failed, or could not be run, and 2
// where the command line is wrong.
func status(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage), errors.Is(err, flag.ErrHelp):
		return 2
	default:
		return 1
	}
}

// options are what the command line says.
type options struct {
	first   uint64
	replay  int64 // -1 for none
	length  time.Duration
	seeds   uint64
	workers int
	folder  string
	engine  *ruleengine.Engine
}

// run is the program without its process.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("simulate", flag.ContinueOnError)
	flags.SetOutput(out)
	var (
		o     options
		hours = flags.Float64("hours", 0, "for how many hours to run; SIMULATE_FOR=2h means the same")
		err   error
	)
	flags.Uint64Var(&o.first, "seed", 1, "the first seed")
	flags.Int64Var(&o.replay, "replay", -1, "a seed to run once, with its event log on the output")
	flags.Uint64Var(&o.seeds, "seeds", 0, "how many seeds to run at most; 0 means as many as there is time for")
	flags.IntVar(&o.workers, "workers", 2, "how many seeds to run at once")
	flags.StringVar(&o.folder, "logs", os.TempDir(), "where to keep the event logs of seeds that fail")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if o.length, err = length(*hours, os.Getenv("SIMULATE_FOR")); err != nil {
		return fmt.Errorf("%w: %w", err, errUsage)
	}
	if err := o.check(flags.Args()); err != nil {
		return fmt.Errorf("%w: %w", err, errUsage)
	}
	if o.engine, err = simulation.Rules(); err != nil {
		return err
	}
	if o.replay >= 0 {
		return o.once(ctx, out)
	}
	return o.many(ctx, out)
}

// check says what of the options makes no sense.
func (o options) check(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("%q is not an option", rest[0])
	}
	if o.workers < 1 {
		return errors.New("-workers must be positive")
	}
	if info, err := os.Stat(o.folder); err != nil || !info.IsDir() {
		return fmt.Errorf("-logs: %s is not a folder", o.folder)
	}
	return nil
}

// length is how long to run: by the flag, else by the environment, else a minute.
func length(hours float64, env string) (time.Duration, error) {
	switch {
	case hours < 0:
		return 0, errors.New("-hours must be positive")
	case hours > 0:
		return time.Duration(hours * float64(time.Hour)), nil
	case env != "":
		d, err := time.ParseDuration(env)
		if err != nil {
			return 0, fmt.Errorf("SIMULATE_FOR: %w", err)
		}
		if d <= 0 {
			return 0, fmt.Errorf("SIMULATE_FOR=%s: nothing can be run in that time", env)
		}
		return d, nil
	default:
		return time.Minute, nil
	}
}

// config is how a seed is run. Some seeds have their journal in a folder of their
// own, which is gone afterwards.
func (o options) config(seed uint64) (simulation.Config, func(), error) {
	c := simulation.Config{Seed: seed, Engine: o.engine}
	if seed%onDisk != 0 {
		return c, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "simulate-")
	if err != nil {
		return c, nil, fmt.Errorf("a folder for the journal: %w", err)
	}
	c.Journal = func() (journal.Journal, error) { return bboltjournal.Open(filepath.Join(dir, "journal")) }
	return c, func() { _ = os.RemoveAll(dir) }, nil // a folder that stays does no harm
}

// once runs one seed with its event log.
func (o options) once(ctx context.Context, out io.Writer) error {
	c, done, err := o.config(uint64(o.replay))
	if err != nil {
		return err
	}
	defer done()
	c.Log = out
	r, err := simulation.Run(ctx, c)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "events %x\nstate  %x\n", r.LogHash, r.StateHash)
	if r.Failure != "" {
		fmt.Fprint(out, r.Report(""))
		return errFailed
	}
	return nil
}

// many runs seeds until the time is over or one of them fails.
func (o options) many(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, o.length)
	defer cancel()
	p := &progress{out: out, options: o, next: o.first, stop: cancel, said: time.Now()}
	var work sync.WaitGroup
	for range max(o.workers, 1) {
		work.Go(func() {
			for ctx.Err() == nil && p.one() {
			}
		})
	}
	work.Wait()
	fmt.Fprint(out, p.totals.String())
	return p.err
}

// progress is what the workers share.
type progress struct {
	options
	out  io.Writer
	stop context.CancelFunc

	mu     sync.Mutex
	next   uint64
	said   time.Time
	totals simulation.Totals
	err    error
}

// one runs the next seed; it is false when there is a failure, or no seed left.
func (p *progress) one() bool {
	p.mu.Lock()
	seed := p.next
	if p.seeds > 0 && seed >= p.first+p.seeds {
		p.mu.Unlock()
		return false
	}
	p.next++
	p.mu.Unlock()
	r, err := p.try(seed)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.err = errors.Join(p.err, err)
		p.stop()
		return false
	}
	p.totals.Add(r)
	if time.Since(p.said) > 10*time.Second {
		p.said = time.Now()
		fmt.Fprintf(p.out, "seed %d: %d seeds, %d steps, %d calls, %d records\n", seed, p.totals.Seeds, p.totals.Steps, p.totals.Calls, p.totals.Records)
	}
	return true
}

// try runs a seed, and once more with its event log in a file when it fails. It is
// run to its end also when the time is over: half a seed says nothing.
func (p *progress) try(seed uint64) (simulation.Result, error) {
	c, done, err := p.config(seed)
	if err != nil {
		return simulation.Result{}, err
	}
	defer done()
	r, err := simulation.Run(context.Background(), c)
	if err != nil || r.Failure == "" {
		return r, err
	}
	path := filepath.Join(p.folder, fmt.Sprintf("simulate-%d.log", seed))
	c, again, err := p.config(seed)
	if err != nil {
		return r, err
	}
	defer again()
	if _, err := simulation.Keep(context.Background(), c, path); err != nil {
		return r, err
	}
	return r, fmt.Errorf("%w: %s", errFailed, r.Report(path))
}
