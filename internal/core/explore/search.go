// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/explore/space"
)

// Stats counts what a search has seen.
type Stats struct {
	// Configs are the configurations, Capped those that were too large for the
	// budget. Full[f] are those of which all histories with at most f mishaps were
	// searched.
	Configs, Capped int
	Full            [deepest + 1]int
	// States are the canonically distinct worlds, Cores the distinct states of
	// the core in them, Edges the commands that the core has executed, and Steps
	// the steps between worlds.
	States, Cores, Edges, Steps int
}

// Add adds another search.
func (s *Stats) Add(o Stats) {
	s.Configs += o.Configs
	s.Capped += o.Capped
	for f := range s.Full {
		s.Full[f] += o.Full[f]
	}
	s.States += o.States
	s.Cores += o.Cores
	s.Edges += o.Edges
	s.Steps += o.Steps
}

// Limit bounds the search of one configuration: its distinct worlds, and the
// distinct states of the core among them (0 for any number).
type Limit struct{ Worlds, Cores int }

// share is what the histories of one level of mishaps may use up of a limit of
// which others have used some: a fair part of what is left for all levels.
func share(limit, used, levels int) int {
	return used + max(0, limit-used)/max(1, levels)
}

// visit is a world that was seen, and how it was reached.
type visit struct {
	world
	from uint32
	by   move
}

// search explores one configuration. Its memory can be used again.
type search struct {
	core   *core
	seen   *space.Set
	visits []visit
	open   frontier
	moves  []move
	steps  int
	full   bool // some steps were not followed
	key    [keySize]byte
}

func newSearch() *search { return &search{seen: space.NewSet(1 << 16)} }

// explore searches a configuration up to a limit, histories with few mishaps
// first, and returns the first finding.
func (s *search) explore(c *Config, limit Limit, probe *coverage, codec int) (Stats, error) {
	c.prepare()
	s.core = newCore(c, probe, codec)
	s.seen.Clear()
	s.open.reset()
	s.visits, s.steps, s.full = s.visits[:0], 0, false
	at, _, err := s.core.begin()
	if err != nil {
		return Stats{}, &Finding{Config: c, Cause: err}
	}
	s.add(newWorld(c, at), 0, move{})
	stats := Stats{Configs: 1}
	for more := true; more && err == nil; more = s.open.deepen() {
		left := c.Faults + 1 - s.open.level
		worlds := share(limit.Worlds, len(s.visits), left)
		if limit.Cores > 0 {
			s.core.limit = share(limit.Cores, len(s.core.nodes), left)
		}
		err = s.exhaust(worlds)
		if err == nil && !s.full {
			stats.Full[s.open.level] = 1
		}
	}
	stats.States, stats.Cores, stats.Edges, stats.Steps = len(s.visits), len(s.core.nodes), s.core.edges, s.steps
	if err == nil && s.full {
		stats.Capped = 1
	}
	return stats, err
}

// exhaust expands the worlds of one level, up to a number of worlds.
func (s *search) exhaust(worlds int) error {
	for {
		from, ok := s.open.take()
		switch {
		case !ok:
			return nil
		case len(s.visits) >= worlds:
			s.full = true
			return nil
		}
		if err := s.expand(from); err != nil {
			return err
		}
	}
}

// add takes up a world if it is new.
func (s *search) add(w world, from uint32, by move) bool {
	if !s.seen.Add(w.key(&s.key)) {
		return false
	}
	s.open.add(uint32(len(s.visits)), w.faults)
	s.visits = append(s.visits, visit{w, from, by})
	return true
}

// expand makes every step that a world offers.
func (s *search) expand(from uint32) error {
	c := s.core.config
	w := s.visits[from].world
	n := s.core.nodes[w.at]
	memory, err := w.memory(s.core)
	if err != nil {
		return s.finding(from, move{}, err)
	}
	s.moves = w.moves(c, n, s.core.nodes[memory], s.moves[:0])
	alive := false
	for _, m := range s.moves {
		alive = alive || m.productive()
		s.steps++
		next := w
		happened, err := s.core.move(&next, m)
		if errors.Is(err, errFull) {
			s.full = true
			continue
		}
		if err != nil {
			return s.finding(from, m, err)
		}
		if !happened || !s.add(next, from, m) {
			continue
		}
		if v := checkWorld(c, &next, s.core.nodes[next.at]); v != nil {
			return s.finding(from, m, v)
		}
	}
	if !alive {
		if v := checkSink(c, &w, n); v != nil {
			return s.finding(from, move{}, v)
		}
	}
	return nil
}

// way is how a world was reached.
func (s *search) way(at uint32) []move {
	var path []move
	for ; at != 0; at = s.visits[at].from {
		path = append(path, s.visits[at].by)
	}
	slices.Reverse(path)
	return path
}

// finding tells the shortest history that breaks the invariant which is known.
func (s *search) finding(from uint32, last move, cause error) error {
	path := s.way(from)
	if last != (move{}) {
		path = append(path, last)
	}
	var v *Violation
	if !errors.As(cause, &v) {
		v = broken("Life", "%v", cause)
	}
	f := &Finding{Config: s.core.config, History: path, Cause: v}
	f.minimise()
	return f
}

// follow makes a history anew, on fresh states of the core, up to the first
// violation. Steps that the world does not offer end it without one.
func follow(c *Config, history []move) (*run, *Violation) {
	r := &run{core: newCore(c, newCoverage(1<<30), 1)}
	at, first, err := r.core.begin()
	if err != nil {
		return r, asViolation(err)
	}
	for _, x := range first {
		r.commands = append(r.commands, []admission.Command{x})
	}
	w := newWorld(c, at)
	for _, m := range history {
		n := r.core.nodes[w.at]
		memory, err := w.memory(r.core)
		if err != nil {
			return r, asViolation(err)
		}
		list := w.moves(c, n, r.core.nodes[memory], nil)
		if !contains(list, m) {
			return r, nil
		}
		r.note(&w, m)
		if _, err := r.core.move(&w, m); err != nil {
			return r, asViolation(err)
		}
		r.at = w.at
		if v := checkWorld(c, &w, r.core.nodes[w.at]); v != nil {
			return r, v
		}
	}
	memory, err := w.memory(r.core)
	if err != nil {
		return r, asViolation(err)
	}
	list := w.moves(c, r.core.nodes[w.at], r.core.nodes[memory], nil)
	for _, m := range list {
		if m.productive() {
			return r, nil
		}
	}
	return r, checkSink(c, &w, r.core.nodes[w.at])
}

func contains(list []move, m move) bool {
	for _, x := range list {
		if x == m {
			return true
		}
	}
	return false
}

func asViolation(err error) *Violation {
	var v *Violation
	if errors.As(err, &v) {
		return v
	}
	return broken("Life", "%s", fmt.Sprint(err))
}
