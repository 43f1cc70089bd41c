// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Outcome is what came of one patch.
type Outcome string

// The outcomes. Unfit is a patch that does not apply or does not build: nothing
// is known of the fault.
const (
	Killed   Outcome = "killed"
	TimedOut Outcome = "killed by time-out"
	Survived Outcome = "survived"
	Unfit    Outcome = "unfit"
)

// Dead tells whether the fault was found.
func (o Outcome) Dead() bool { return o == Killed || o == TimedOut }

// Result is what came of one patch, and how.
type Result struct {
	Patch   Patch
	Outcome Outcome
	Killer  string        // the test or program that found it
	Failure []string      // what that says: a counterexample, or the first lines of anything else
	Whole   bool          // Failure is a counterexample of the explorer, with nothing left out
	Took    time.Duration // until it was found
	Note    string        // how it was applied, where not plainly; why it is unfit
	Stages  []string      // what was tried
}

// Runner tries patches on a copy of a repository.
type Runner struct {
	Root     string        // the repository
	Parallel int           // how many patches at a time; 1 if less
	Limit    time.Duration // the most that the tests of one stage may take; 5 minutes if zero
	Quick    bool          // only what a patch touches, stories and scripts
	Progress func(Result)  // hears of each patch as it is done, if set

	files     map[string][]byte
	packages  catalog
	baselines sync.Map // stage by name -> *baseline
}

// baseline is how a stage goes without a fault.
type baseline struct {
	once sync.Once
	took time.Duration
	err  error
}

// Run tries the patches and returns what came of each, in their order. It fails
// if the code fails without any fault: then its failing proves nothing.
func (r *Runner) Run(ctx context.Context, patches []Patch) ([]Result, error) {
	r.Parallel = max(1, r.Parallel)
	if r.Limit == 0 {
		r.Limit = 5 * time.Minute
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, fmt.Errorf("make a copy: %w", err)
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // a temporary folder
	if err := r.prepare(ctx, filepath.Join(scratch, "plain")); err != nil {
		return nil, err
	}
	results := make([]Result, len(patches))
	next := make(chan int)
	var workers sync.WaitGroup
	for i := range r.Parallel {
		workers.Go(func() {
			w := worker{Runner: r, plain: filepath.Join(scratch, "plain"), tree: tree{filepath.Join(scratch, fmt.Sprint(i)), r.files}}
			for i := range next {
				res, err := w.try(ctx, patches[i])
				if err != nil {
					cancel(err)
					return
				}
				if results[i] = res; r.Progress != nil {
					r.Progress(res)
				}
			}
		})
	}
	for i := range patches {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return results, context.Cause(ctx)
}

// prepare reads the repository and lays out the copy without faults.
func (r *Runner) prepare(ctx context.Context, dir string) (err error) {
	if r.files, err = readTree(ctx, r.Root); err != nil {
		return err
	}
	if err = layOut(tree{dir, r.files}); err != nil {
		return err
	}
	r.packages, err = listPackages(ctx, dir)
	return err
}

func layOut(t tree) error {
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return fmt.Errorf("make a copy: %w", err)
	}
	return t.reset()
}

// worker tries one patch after the other in a copy of its own.
type worker struct {
	*Runner
	plain string
	tree  tree
}

func (w *worker) try(ctx context.Context, p Patch) (Result, error) {
	res := Result{Patch: p, Outcome: Unfit}
	if err := layOut(w.tree); err != nil {
		return res, err
	}
	files, note, err := w.tree.apply(ctx, p.Text)
	if err != nil {
		res.Note = "does not apply: " + err.Error()
		return res, nil
	}
	res.Note = note
	packages, err := w.packagesWith(ctx, p, files)
	if err != nil {
		return res, err
	}
	start := time.Now()
	defer func() { res.Took = time.Since(start) }()
	for _, s := range packages.stages(p, files, w.Quick) {
		res.Stages = append(res.Stages, s.String())
		v, err := w.judge(ctx, s)
		switch {
		case errors.Is(err, errUnbuilt):
			res.Note = strings.TrimSpace(res.Note + " " + err.Error())
			return res, nil
		case err != nil:
			return res, err
		case v.failed || v.timeout:
			res.Outcome, res.Killer, res.Failure, res.Whole, res.Took = Killed, v.killer, v.failure, v.whole, time.Since(start)
			if v.timeout {
				res.Outcome = TimedOut
			}
			return res, nil
		}
	}
	res.Outcome, res.Took = Survived, time.Since(start)
	return res, nil
}

// packagesWith are the packages once a patch is applied, which may bring some
// and change who imports whom.
func (w *worker) packagesWith(ctx context.Context, p Patch, files []string) (catalog, error) {
	brings := slices.ContainsFunc(files, func(f string) bool { return w.files[f] == nil })
	if !brings && !bytes.Contains(p.Text, []byte("\""+module)) && !bytes.Contains(p.Text, []byte("+++ /dev/null")) {
		return w.packages, nil
	}
	return listPackages(ctx, w.tree.dir)
}

// judge runs a stage on the fault. Time is no proof on a machine that others
// use: whoever runs out of it is tried again beside the code without a fault.
func (w *worker) judge(ctx context.Context, s stage) (verdict, error) {
	b := w.baseline(ctx, s)
	if b.err != nil {
		return verdict{}, b.err
	}
	limit := min(w.Limit, 20*time.Second+4*b.took)
	v, err := s.execute(ctx, w.tree.dir, w.Parallel, limit)
	if err != nil || !v.timeout {
		return v, err
	}
	again, err := s.execute(ctx, w.plain, w.Parallel, w.Limit)
	if err != nil || again.failed || again.timeout {
		return again, fmt.Errorf("%s no longer passes without a fault: %w", s, errors.Join(err, errors.New(strings.Join(again.failure, "\n"))))
	}
	if 3*again.took <= limit {
		v.failure = []string{fmt.Sprintf("no end within %.0f s; without the fault it takes %.1f s", limit.Seconds(), again.took.Seconds())}
		return v, nil
	}
	v, err = s.execute(ctx, w.tree.dir, w.Parallel, 8*again.took)
	if v.timeout {
		v.failure = []string{fmt.Sprintf("no end within %.0f s; without the fault it takes %.1f s", v.took.Seconds(), again.took.Seconds())}
	}
	return v, err
}

// baseline runs a stage once without a fault.
func (w *worker) baseline(ctx context.Context, s stage) *baseline {
	entry, _ := w.baselines.LoadOrStore(s.String(), &baseline{})
	b := entry.(*baseline)
	b.once.Do(func() {
		var v verdict
		if !w.known(s) {
			return // the patch brings it
		}
		v, b.err = s.execute(ctx, w.plain, w.Parallel, w.Limit)
		b.took = v.took
		switch {
		case b.err != nil:
			b.err = fmt.Errorf("%s without a fault: %s", s, b.err)
		case v.failed || v.timeout:
			b.err = fmt.Errorf("%s fails without a fault: %s\n%s", s, v.killer, strings.Join(v.failure, "\n"))
		}
	})
	return b
}

// known tells whether a stage can be run without the patch.
func (w *worker) known(s stage) bool {
	return w.packages.tested(s.pkg) || len(s.program) > 0
}
