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
	// Waiting hears, if set, of what takes long: a patch that survives takes many
	// minutes, and until then nothing is known of it.
	Waiting func(p Patch, stage string, soFar time.Duration)

	patience  time.Duration // before Waiting hears of it
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
// if the code fails without any fault: then its failing proves nothing. With an
// error, as when ctx ends, it still returns what has come of those that are done.
func (r *Runner) Run(ctx context.Context, patches []Patch) ([]Result, error) {
	r.Parallel = max(1, r.Parallel)
	if r.Limit == 0 {
		r.Limit = 5 * time.Minute
	}
	if r.patience == 0 {
		r.patience = patience
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	scratch, remove, err := scratch()
	if err != nil {
		return nil, err
	}
	defer remove()
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
	err = context.Cause(ctx)
	if err != nil {
		results = slices.DeleteFunc(results, func(r Result) bool { return r.Outcome == "" })
	}
	return results, err
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
	files, err := w.seed(ctx, p, &res)
	if err != nil || files == nil {
		return res, err
	}
	packages, err := w.packagesWith(ctx, p, files)
	if err != nil {
		return res, err
	}
	start := time.Now()
	defer func() { res.Took = time.Since(start) }()
	for _, s := range packages.stages(p, files, w.Quick) {
		res.Stages = append(res.Stages, s.String())
		v, err := w.judge(ctx, p, s)
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

// seed puts a patch into the copy and lists what it changes: nothing, with the
// reason in the note, if the patch is not fit to be tried.
func (w *worker) seed(ctx context.Context, p Patch, res *Result) ([]string, error) {
	if len(bytes.TrimSpace(p.Text)) == 0 {
		res.Note = "it is empty"
		return nil, nil
	}
	if err := layOut(w.tree); err != nil {
		return nil, err
	}
	files, note, err := w.tree.apply(ctx, p.Text)
	if ctx.Err() != nil {
		return nil, ctx.Err() // what was interrupted says nothing of the patch
	}
	if err != nil {
		res.Note = err.Error()
		return nil, nil
	}
	res.Note = note
	idle, err := w.tree.idle(files)
	if err != nil || idle != "" {
		res.Note = idle
		return nil, err
	}
	return files, nil
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
func (w *worker) judge(ctx context.Context, p Patch, s stage) (verdict, error) {
	b := w.baseline(ctx, p, s)
	if b.err != nil {
		return verdict{}, b.err
	}
	defer w.telling(p, s.String())()
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
func (w *worker) baseline(ctx context.Context, p Patch, s stage) *baseline {
	defer w.telling(p, s.String()+" without a fault")()
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
