// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// CriticalPath is the longest path over the edges of the jobs alone, as if nobody
// were in anybody's way.
func CriticalPath(jobs []Job) time.Duration {
	heads, tails := ends(jobs)
	var longest time.Duration
	for j := range jobs {
		longest = max(longest, heads[j]+jobs[j].Duration+tails[j])
	}
	return longest
}

// ends are how early each job can begin, and how long at least is left after it.
func ends(jobs []Job) (heads, tails []time.Duration) {
	heads, tails = make([]time.Duration, len(jobs)), make([]time.Duration, len(jobs))
	order := inTurn(jobs)
	for _, j := range order {
		heads[j] = max(heads[j], jobs[j].Release)
		for _, before := range jobs[j].After {
			heads[j] = max(heads[j], heads[before]+jobs[before].Duration)
		}
	}
	for _, j := range slices.Backward(order) {
		for _, before := range jobs[j].After {
			tails[before] = max(tails[before], jobs[j].Duration+tails[j])
		}
	}
	return heads, tails
}

// LowerBound is a time that no order of the jobs can beat: the critical path,
// what has to be done alone on one thing after the other, and what the slots of
// one run have to do.
func LowerBound(jobs []Job, slots int) time.Duration {
	heads, tails := ends(jobs)
	bound := CriticalPath(jobs)
	alone, runs := map[string][]int{}, map[int][]int{}
	for j := range jobs {
		runs[jobs[j].Run] = append(runs[jobs[j].Run], j)
		for _, t := range jobs[j].Touches {
			if t.Alone {
				alone[t.Key] = append(alone[t.Key], j)
			}
		}
	}
	for _, list := range alone {
		bound = max(bound, machine(jobs, list, heads, tails, 1))
	}
	for _, list := range runs {
		bound = max(bound, machine(jobs, list, heads, tails, slots))
	}
	return bound
}

// machine bounds jobs of which so many can run at a time: those that begin no
// earlier than some time are done no earlier than all their work after it.
func machine(jobs []Job, list []int, heads, tails []time.Duration, width int) time.Duration {
	slices.SortFunc(list, func(a, b int) int { return cmp.Compare(heads[b], heads[a]) })
	var bound, work time.Duration
	least := tails[list[0]]
	for _, j := range list {
		work += jobs[j].Duration
		least = min(least, tails[j])
		bound = max(bound, heads[j]+work/time.Duration(width)+least)
	}
	return bound
}

// Optimal is the makespan of the best order of the jobs, found by search, as if
// runs had slots without end. ok is false when that takes more than so many steps.
func Optimal(jobs []Job, steps int) (best time.Duration, ok bool) {
	s := newSearch(jobs, steps)
	s.try(0, 0)
	return s.best, s.steps > 0 || s.best == s.bound
}

// search tries all orders, giving up those that are no better than the best.
type search struct {
	jobs        []Job
	tails       []time.Duration
	steps       int
	best, bound time.Duration
	done        []bool
	end         []time.Duration
	// collide says which jobs exclude each other, and rivals which of those are
	// not ordered by edges.
	collide, rivals [][]int
}

func newSearch(jobs []Job, steps int) *search {
	_, tails := ends(jobs)
	n := len(jobs)
	s := &search{
		jobs: jobs, tails: tails, steps: steps, done: make([]bool, n), end: make([]time.Duration, n),
		collide: make([][]int, n), rivals: make([][]int, n),
		// Turns as they are give the first order to beat.
		best: LongestPath(jobs, n), bound: LowerBound(jobs, n),
	}
	before := ancestors(jobs)
	for j := range jobs {
		for k := range jobs {
			if j == k || !Collide(jobs[j].Touches, jobs[k].Touches) {
				continue
			}
			s.collide[j] = append(s.collide[j], k)
			if !before[j][k] && !before[k][j] {
				s.rivals[j] = append(s.rivals[j], k)
			}
		}
	}
	return s
}

// ancestors are, for each job, those that come before it by its edges.
func ancestors(jobs []Job) []map[int]bool {
	before := make([]map[int]bool, len(jobs))
	for _, j := range inTurn(jobs) {
		before[j] = map[int]bool{}
		for _, k := range jobs[j].After {
			before[j][k] = true
			maps.Copy(before[j], before[k])
		}
	}
	return before
}

// try places one more job after count that are placed and end at last.
func (s *search) try(count int, last time.Duration) {
	if count == len(s.jobs) {
		s.best = min(s.best, last)
		return
	}
	if s.steps--; s.steps <= 0 || s.best == s.bound {
		return
	}
	for j := range s.jobs {
		if s.done[j] || !s.ready(j) {
			continue
		}
		start := s.start(j)
		if start+s.jobs[j].Duration+s.tails[j] >= s.best {
			return // it comes no earlier when others are placed first
		}
		s.done[j], s.end[j] = true, start+s.jobs[j].Duration
		s.try(count+1, max(last, s.end[j]))
		s.done[j] = false
		if s.free(j) {
			return // placing it first was as good as any
		}
	}
}

func (s *search) ready(j int) bool {
	return !slices.ContainsFunc(s.jobs[j].After, func(before int) bool { return !s.done[before] })
}

// start is when a job can begin after all that were placed before.
func (s *search) start(j int) time.Duration {
	start := s.jobs[j].Release
	for _, before := range s.jobs[j].After {
		start = max(start, s.end[before])
	}
	for _, k := range s.collide[j] {
		if s.done[k] {
			start = max(start, s.end[k])
		}
	}
	return start
}

// free says whether no rival of a job is still to be placed.
func (s *search) free(j int) bool {
	return !slices.ContainsFunc(s.rivals[j], func(k int) bool { return !s.done[k] })
}
