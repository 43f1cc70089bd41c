// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"container/heap"
	"slices"
	"time"
)

// Job is a call that was made, as the paths and bounds see it.
type Job struct {
	// Run is the session, Release when it arrived, and Duration how long the call
	// was in flight. Times count from the first arrival.
	Run               int
	Release, Duration time.Duration
	// After are the jobs that have to end before: Terraform's edges, and what
	// has to be there first.
	After   []int
	Touches []Touch
	// Turn orders jobs that exclude each other.
	Turn uint64
	// Takes is what the job takes of the one capacity that is bounded.
	Takes int
}

// LongestPath is when the last job can end: the longest path over the edges of
// the jobs, the slots of each run, and an edge between each two jobs that exclude
// each other, from the earlier turn to the later. A job that has to come after one
// of a later turn takes its turn directly behind it. slots is how many calls of a
// run are in flight at most.
func LongestPath(jobs []Job, slots int) time.Duration {
	if len(jobs) == 0 {
		return 0
	}
	return slices.Max(schedule(jobs, slots))
}

// schedule is when each job ends at the earliest.
func schedule(jobs []Job, slots int) []time.Duration {
	var (
		ends  = make([]time.Duration, len(jobs))
		keys  = map[string]*frontier{}
		lanes = map[int][]time.Duration{}
	)
	for _, j := range inTurn(jobs) {
		start := max(jobs[j].Release, free(lanes[jobs[j].Run], slots))
		for _, before := range jobs[j].After {
			start = max(start, ends[before])
		}
		for _, t := range jobs[j].Touches {
			start = max(start, at(keys, t.Key).after(t.Alone))
		}
		end := start + jobs[j].Duration
		for _, t := range jobs[j].Touches {
			at(keys, t.Key).add(end, t.Alone)
		}
		ends[j] = end
		lanes[jobs[j].Run] = insert(lanes[jobs[j].Run], end)
	}
	return ends
}

// frontier is when those end that work on one thing: the ones alone, and the ones
// that work on it together since.
type frontier struct{ alone, together time.Duration }

func at(keys map[string]*frontier, key string) *frontier {
	f, ok := keys[key]
	if !ok {
		f = &frontier{}
		keys[key] = f
	}
	return f
}

func (f *frontier) after(alone bool) time.Duration {
	if alone {
		return max(f.alone, f.together)
	}
	return f.alone
}

func (f *frontier) add(end time.Duration, alone bool) {
	if alone {
		f.alone = max(f.alone, end)
		return
	}
	f.together = max(f.together, end)
}

// free is when a run has a slot again whose earlier calls end at the given times.
func free(ends []time.Duration, slots int) time.Duration {
	if len(ends) < slots {
		return 0
	}
	return ends[len(ends)-slots]
}

func insert(ends []time.Duration, end time.Duration) []time.Duration {
	i, _ := slices.BinarySearch(ends, end)
	return slices.Insert(ends, i, end)
}

// inTurn are the jobs in the order of their turns, as far as their edges allow:
// always the earliest turn of those whose edges are satisfied.
func inTurn(jobs []Job) []int {
	open, next := make([]int, len(jobs)), make([][]int, len(jobs))
	ready := &turns{jobs: jobs}
	for j := range jobs {
		open[j] = len(jobs[j].After)
		for _, before := range jobs[j].After {
			next[before] = append(next[before], j)
		}
		if open[j] == 0 {
			heap.Push(ready, j)
		}
	}
	order := make([]int, 0, len(jobs))
	for ready.Len() > 0 {
		j := heap.Pop(ready).(int)
		order = append(order, j)
		for _, k := range next[j] {
			if open[k]--; open[k] == 0 {
				heap.Push(ready, k)
			}
		}
	}
	return order
}

// turns is a heap of jobs by their turn.
type turns struct {
	jobs []Job
	all  []int
}

func (t *turns) Len() int { return len(t.all) }
func (t *turns) Less(a, b int) bool {
	x, y := t.all[a], t.all[b]
	if t.jobs[x].Turn != t.jobs[y].Turn {
		return t.jobs[x].Turn < t.jobs[y].Turn
	}
	return x < y
}
func (t *turns) Swap(a, b int) { t.all[a], t.all[b] = t.all[b], t.all[a] }
func (t *turns) Push(x any)    { t.all = append(t.all, x.(int)) }
func (t *turns) Pop() any {
	last := t.all[len(t.all)-1]
	t.all = t.all[:len(t.all)-1]
	return last
}
