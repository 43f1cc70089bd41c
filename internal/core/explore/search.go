// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
)

// Finding is a history that breaks an invariant.
type Finding struct {
	Config  *Config
	History []move
	Cause   error
}

// Error prints the history as a script, shortened as far as it still breaks
// the same invariant.
func (f *Finding) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v\n", f.Config.Name, f.Cause)
	for _, m := range f.History {
		fmt.Fprintf(&b, "  %s", m)
		if m.kind < declare {
			fmt.Fprintf(&b, " (%s of s%d)", f.Config.Ops[m.who].Name, f.Config.Ops[m.who].Session)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Stats counts what a search has seen.
type Stats struct {
	Configs, States, Steps int
	// Capped counts the configurations that were too large for the budget.
	Capped int
}

// search explores one configuration depth first, up to limit distinct states.
type search struct {
	config *Config
	limit  int
	seen   map[[32]byte]struct{}
	path   []move
	stats  Stats
	probe  *coverage
}

// Explore searches one configuration and returns the first finding. Pairs of
// command and status are counted in cover, which may be nil.
func Explore(c *Config, limit int, cover *coverage) (Stats, error) {
	w, err := begin(c)
	if err != nil {
		return Stats{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	s := &search{config: c, limit: limit, seen: map[[32]byte]struct{}{}, probe: cover}
	s.seen[w.key()] = struct{}{}
	err = s.visit(w)
	s.stats.Configs, s.stats.States = 1, len(s.seen)
	if len(s.seen) >= limit {
		s.stats.Capped = 1
	}
	return s.stats, err
}

func (s *search) visit(w *world) error {
	for _, m := range w.moves() {
		if len(s.seen) >= s.limit {
			return nil
		}
		s.path = append(s.path, m)
		s.stats.Steps++
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
		return s.finding(err)
	}
	if !fresh {
		return nil
	}
	return s.visit(next)
}

// judge makes the move in next and checks it, everything about the new state
// only when it was not seen before.
func (s *search) judge(w, next *world, m move) (fresh bool, err error) {
	c, events, err := next.step(m)
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
	if v := checkProgress(next); v != nil {
		return false, v
	}
	thorough := len(s.seen)%64 == 1
	if c != nil && len(s.seen)%4 == 1 {
		if v := checkReplay(w, next, c, events, thorough); v != nil {
			return false, v
		}
	}
	if thorough && s.probe != nil {
		if v := s.probe.try(next); v != nil {
			return false, v
		}
	}
	return true, nil
}

// key identifies a world up to what makes no difference to its future.
func (w *world) key() [32]byte {
	var marks []uint64
	if w.read.begun && !w.read.done {
		marks = append(marks, w.read.mark)
	}
	f := w.state.Fingerprint(marks...)
	b := make([]byte, 0, 256)
	b = append(b, f[:]...)
	b = w.cloud.write(b)
	for i := range w.config.Ops {
		b = w.runs[i].write(b)
	}
	for i := range w.config.Policies {
		b = flags(b, w.gone[i], w.declared[i])
	}
	b = flags(b, w.read.begun, w.read.done, w.read.exists)
	b = append(b, w.read.refs, byte(w.faults))
	return sha256.Sum256(b)
}

func (c *cloud) write(b []byte) []byte {
	for i := range objects {
		b = flags(b, c.exists[i])
		b = append(b, c.life[i], byte(c.owner[i]), c.refs[i])
		b = append(b, c.edits[i][:]...)
	}
	return b
}

func (r *run) write(b []byte) []byte {
	b = flags(b, r.lowered, r.submitted, r.inflight, r.told, r.ok)
	return append(b, r.rounds, byte(r.version), byte(r.life), byte(r.seenEdits), r.seenLife)
}

func flags(b []byte, list ...bool) []byte {
	var bits byte
	for i, f := range list {
		if f {
			bits |= 1 << i
		}
	}
	return append(b, bits)
}

// finding shortens the history: it leaves out every step without which the
// invariant still breaks.
func (s *search) finding(cause error) error {
	history := append([]move(nil), s.path...)
	for i := 0; i < len(history); {
		shorter := append(append([]move(nil), history[:i]...), history[i+1:]...)
		if err := s.again(shorter); err != nil && sameKind(err, cause) {
			history, cause = shorter, err
			continue
		}
		i++
	}
	return &Finding{Config: s.config, History: history, Cause: cause}
}

func sameKind(a, b error) bool {
	var x, y *Violation
	if errors.As(a, &x) && errors.As(b, &y) {
		return x.Invariant == y.Invariant
	}
	return !errors.As(b, &y)
}

// again makes a history anew; steps that the world does not offer end it.
func (s *search) again(history []move) error {
	w, err := begin(s.config)
	if err != nil {
		return err
	}
	fresh := &search{config: s.config, limit: s.limit, seen: map[[32]byte]struct{}{}}
	for _, m := range history {
		if !offers(w, m) {
			return nil
		}
		next := w.clone()
		if _, err := fresh.judge(w, next, m); err != nil {
			return err
		}
		w = next
	}
	return nil
}

func offers(w *world, m move) bool {
	for _, o := range w.moves() {
		if o == m {
			return true
		}
	}
	return false
}

func (s *Stats) add(o Stats) {
	s.Configs += o.Configs
	s.States += o.States
	s.Steps += o.Steps
	s.Capped += o.Capped
}
