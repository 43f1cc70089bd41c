// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package runs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// Finding is a history that breaks an invariant.
type Finding struct {
	Config  *Config
	History []move
	Cause   error
}

// Error prints the configuration and the history.
func (f *Finding) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n%s", f.Cause, f.Config)
	for _, m := range f.History {
		fmt.Fprintf(&b, "  %s (%s)\n", m, f.Config.Runs[m.run].Calls[m.call].Name)
	}
	return b.String()
}

// Unwrap is the violation.
func (f *Finding) Unwrap() error { return f.Cause }

// Stats counts what a search has seen.
type Stats struct {
	Configs, States, Steps int
	// Capped counts the configurations that were too large for the budget.
	Capped int
}

func (s *Stats) add(o Stats) {
	s.Configs += o.Configs
	s.States += o.States
	s.Steps += o.Steps
	s.Capped += o.Capped
}

type search struct {
	config *Config
	limit  int
	seen   map[[32]byte]struct{}
	path   []move
	steps  int
}

// Explore searches one configuration depth first, up to limit distinct states,
// and returns the first finding.
func Explore(c *Config, limit int) (Stats, error) {
	w, err := begin(c)
	if err != nil {
		return Stats{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	s := &search{config: c, limit: limit, seen: map[[32]byte]struct{}{w.key(): {}}}
	err = s.visit(w)
	stats := Stats{Configs: 1, States: len(s.seen), Steps: s.steps}
	if len(s.seen) >= limit {
		stats.Capped = 1
	}
	return stats, err
}

func (s *search) visit(w *world) error {
	moves := w.moves()
	if v := checkEnd(w, moves); v != nil {
		return &Finding{s.config, s.path, v}
	}
	for _, m := range moves {
		if len(s.seen) >= s.limit {
			return nil
		}
		s.path = append(s.path, m)
		s.steps++
		if err := s.follow(w, m); err != nil {
			return err
		}
		s.path = s.path[:len(s.path)-1]
	}
	return nil
}

func (s *search) follow(w *world, m move) error {
	next := w.clone()
	fresh, err := s.judge(w, next, m)
	if err != nil {
		var f *Finding
		if errors.As(err, &f) {
			return err
		}
		return &Finding{s.config, append([]move(nil), s.path...), err}
	}
	if !fresh {
		return nil
	}
	return s.visit(next)
}

func (s *search) judge(w, next *world, m move) (fresh bool, err error) {
	events, c, err := next.step(m)
	if err != nil {
		return false, fmt.Errorf("%s: %w", m, err)
	}
	if v := checkStep(w, next, m, events); v != nil {
		return false, v
	}
	k := next.key()
	if _, ok := s.seen[k]; ok {
		return false, nil
	}
	s.seen[k] = struct{}{}
	if v := checkState(next); v != nil {
		return false, v
	}
	if len(s.seen)%8 == 1 && len(events) > 0 && m.kind != lapse {
		if v := checkReplay(w, next, c, events); v != nil {
			return false, v
		}
	}
	return true, nil
}

// checkReplay: the decisions, folded onto a snapshot of the state before, give
// the state after (I14).
func checkReplay(before, w *world, c admission.Command, events []admission.Event) *Violation {
	saved, err := before.state.MarshalJSON()
	if err != nil {
		return broken("I14 ReplayEqual", "snapshot: %v", err)
	}
	replica := admission.New()
	if err := replica.UnmarshalJSON(saved); err != nil {
		return broken("I14 ReplayEqual", "read snapshot: %v", err)
	}
	if err := replica.Fold(w.state.Index(), w.state.Now(), events); err != nil {
		return broken("I14 ReplayEqual", "fold of %T: %v", c, err)
	}
	if replica.Hash() != w.state.Hash() {
		return broken("I14 ReplayEqual", "%T gives another state", c)
	}
	return nil
}
