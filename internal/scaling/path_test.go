// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"testing"
	"time"
)

// job is a job of so many seconds that works alone on the given keys.
func job(run int, seconds int, turn uint64, after []int, alone ...string) Job {
	j := Job{Run: run, Duration: time.Duration(seconds) * time.Second, Turn: turn, After: after}
	for _, key := range alone {
		j.Touches = append(j.Touches, Touch{key, true})
	}
	return j
}

// reading adds keys that a job works on together with others.
func (j Job) reading(keys ...string) Job {
	for _, key := range keys {
		j.Touches = append(j.Touches, Touch{key, false})
	}
	return j
}

func (j Job) released(seconds int) Job {
	j.Release = time.Duration(seconds) * time.Second
	return j
}

// longestPaths are cases that were worked out by hand.
var longestPaths = map[string]struct {
	jobs  []Job
	slots int
	want  int
}{
	"nothing":   {nil, 10, 0},
	"one":       {[]Job{job(0, 3, 1, nil)}, 10, 3},
	"apart":     {[]Job{job(0, 3, 1, nil, "a"), job(1, 5, 2, nil, "b")}, 10, 5},
	"edges":     {[]Job{job(0, 3, 1, nil), job(0, 5, 2, []int{0}), job(0, 4, 3, []int{0})}, 10, 8},
	"exclusion": {[]Job{job(0, 3, 1, nil, "a"), job(1, 5, 2, nil, "a"), job(2, 1, 3, nil, "a")}, 10, 9},
	"the turn decides": {[]Job{
		// 7 then 2+10 behind it, or 2, then 10 beside 7.
		job(0, 7, 1, nil, "a"), job(1, 2, 2, nil, "a"), job(1, 10, 3, []int{1}),
	}, 10, 19},
	"the other turn": {[]Job{
		job(0, 7, 2, nil, "a"), job(1, 2, 1, nil, "a"), job(1, 10, 3, []int{1}),
	}, 10, 12},
	"readers together": {[]Job{
		job(0, 3, 1, nil).reading("a"), job(1, 5, 2, nil).reading("a"), job(2, 1, 3, nil, "a"), job(3, 4, 4, nil).reading("a"),
	}, 10, 10},
	"a late arrival": {[]Job{job(0, 3, 1, nil, "a").released(10), job(1, 2, 2, nil, "a")}, 10, 15},
	// The third waits for the shorter of the first two: 4+5.
	"slots": {[]Job{job(0, 4, 1, nil), job(0, 6, 2, nil), job(0, 5, 3, nil)}, 2, 9},
	// Slots are a run's own.
	"slots of others": {[]Job{job(0, 4, 1, nil), job(1, 6, 2, nil), job(2, 5, 3, nil)}, 1, 6},
	// The second needs the third, and so takes its turn behind it; the fourth,
	// which is later than the second, does not wait for it: 5+2, 7+3, 10+1.
	"need turns the order": {[]Job{
		job(0, 2, 4, nil, "x"), job(1, 3, 2, []int{0}, "x"), job(2, 5, 3, nil, "x"), job(3, 1, 9, nil, "x"),
	}, 10, 11},
}

func TestLongestPath(t *testing.T) {
	t.Parallel()
	for name, tt := range longestPaths {
		if got := LongestPath(tt.jobs, tt.slots); got != time.Duration(tt.want)*time.Second {
			t.Errorf("%s: %v, worked out by hand %d s", name, got, tt.want)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	jobs := longestPaths["the turn decides"].jobs
	if got := CriticalPath(jobs); got != 12*time.Second {
		t.Errorf("critical path %v", got)
	}
	// On "a" there are 7 and 2, and nothing has to come behind both.
	if got := LowerBound(jobs, 10); got != 12*time.Second {
		t.Errorf("lower bound %v", got)
	}
	if got, ok := Optimal(jobs, 1000); !ok || got != 12*time.Second {
		t.Errorf("best order %v, %t", got, ok)
	}
	// 3+5+1 on one thing, and at least 2 behind whichever is last.
	jobs = []Job{
		job(0, 3, 1, nil, "a"), job(1, 5, 2, nil, "a"), job(2, 1, 3, nil, "a"),
		job(0, 2, 4, []int{0}), job(1, 4, 5, []int{1}), job(2, 3, 6, []int{2}),
	}
	if got := LowerBound(jobs, 10); got != 11*time.Second {
		t.Errorf("lower bound %v", got)
	}
	if got, ok := Optimal(jobs, 1000); !ok || got != 11*time.Second {
		t.Errorf("best order %v, %t", got, ok)
	}
	if got := LowerBound([]Job{job(0, 4, 1, nil), job(0, 4, 1, nil), job(0, 4, 1, nil)}, 2); got != 6*time.Second {
		t.Errorf("with two slots %v", got)
	}
	if _, ok := Optimal(jobs, 2); ok {
		t.Error("two steps find the best of many orders")
	}
}

// TestHold: twenty units; the second run wants more than the first leaves. That
// it can never have them is certain when the first has 9 for certain, 5 seconds in,
// and the third run begins then.
func TestHold(t *testing.T) {
	t.Parallel()
	jobs := []Job{job(0, 5, 1, nil), job(0, 8, 2, nil), job(2, 3, 3, nil)}
	jobs[0].Takes, jobs[1].Takes, jobs[2].Takes = 9, 4, 2
	needs := []need{{0, 13}, {1, 12}, {2, 2}}
	if got := LongestPath(hold(jobs, needs, 20, 10), 10); got != 8*time.Second {
		t.Errorf("all together %v", got)
	}
	held := hold(jobs, needs, 20, 10)
	if held[2].Release != 5*time.Second || held[0].Release != 0 {
		t.Errorf("released at %v and %v", held[0].Release, held[2].Release)
	}
	if held := hold(jobs, needs[:1], 20, 10); held[2].Release != 0 {
		t.Errorf("nobody is refused, and the last is released at %v", held[2].Release)
	}
}
