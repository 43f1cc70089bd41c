// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

// step is one run of the CLI that takes the lock of the state.
type step struct {
	args []string
	env  arguments.Environment
	// drop chooses lines of JSON to leave out; nil for none.
	drop func([]byte) bool
	// destroy is set where a saved plan that destroys is applied.
	destroy bool
	// quiet leaves out that the plan is stale.
	quiet bool

	// stale and locked are what the CLI said about the state, as far as watched.
	stale, locked, watched bool
	// configured is true when it came so far that a provider was configured.
	configured bool
}

// witness counts how often a provider is configured.
type witness struct {
	intercept.Watcher
	count *int64
}

// Configured implements intercept.Watcher.
func (w witness) Configured(ctx context.Context, provider string, config cty.Value) {
	atomic.AddInt64(w.count, 1)
	w.Watcher.Configured(ctx, provider, config)
}

// outlet says what becomes of what the CLI prints.
type outlet struct {
	// stdout and stderr are nil for those of this process.
	stdout, stderr io.Writer
	// drop and line are for lines of JSON: which are left out, and what is printed
	// in the place of the others.
	drop func([]byte) bool
	line func([]byte) []byte
}

// take runs a step, and notes what the CLI said about the state. On a terminal
// the CLI keeps the terminal, so that everything looks as it always does.
func (r *run) take(ctx context.Context, s *step) (int, error) {
	said := &sieve{out: r.app.Stderr, quiet: s.quiet}
	var out outlet
	var end *ending
	switch {
	case r.lines != nil:
		s.watched = true
		out.drop = func(line []byte) bool { return s.drop != nil && s.drop(line) || said.drop(line) }
		if s.destroy {
			out.line = jsonEnding
		}
	default:
		if s.watched = r.watchable(); s.watched {
			out.stderr = said
		}
		if s.destroy && !isTerminal(r.app.Stdout) {
			end = &ending{out: r.app.Stdout}
			out.stdout = end
		}
	}
	configured := atomic.LoadInt64(&r.configured)
	code, err := r.cli(ctx, s.args, s.env, out)
	s.configured = atomic.LoadInt64(&r.configured) != configured
	// That nobody reads any more is not worth more trouble than the run itself.
	_ = said.Close()
	if end != nil {
		_ = end.Close()
	}
	s.stale, s.locked = said.said()
	return code, err
}

// watchable says whether what the CLI prints as its standard error may pass
// through here. Its log does not: it is long, and is to be read in the order in
// which it was written.
func (r *run) watchable() bool {
	for _, name := range []string{"TF_LOG", "TF_LOG_CORE", "TF_LOG_PROVIDER"} {
		if r.app.Env.Get(name) != "" && r.app.Env.Get("TF_LOG_PATH") == "" {
			return false
		}
	}
	return !isTerminal(r.app.Stderr)
}

// locking runs a step of which nothing is to be changed, and says who has the
// lock of the state if that was why it failed.
func (r *run) locking(ctx context.Context, args []string, env arguments.Environment) (int, error) {
	s := step{args: args, env: env}
	code, err := r.take(ctx, &s)
	if err == nil {
		r.explainLock(ctx, code, &s)
	}
	return code, err
}

// command runs the CLI's command as it is.
func (r *run) command(ctx context.Context) (int, error) {
	if !r.locksState() {
		return r.cli(ctx, r.inv.Argv(), r.env, outlet{})
	}
	return r.locking(ctx, r.inv.Argv(), r.env)
}

// flag is the last value of one of Terraform's options; empty when it is not
// given.
func (r *run) flag(name string) (value string) {
	for _, f := range r.opts.Flags {
		if f.Name == name {
			value = f.Value
		}
	}
	return value
}
