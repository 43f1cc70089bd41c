// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"slices"
	"time"
)

// need is what a run asks for of the one capacity that is bounded.
type need struct {
	run    int
	amount int
}

// shares says which runs there is enough for when they ask in this order, and
// whoever does not get enough takes nothing.
func shares(needs []need, limit int) (enough map[int]bool) {
	enough = map[int]bool{}
	taken := 0
	for _, n := range needs {
		if taken+n.amount <= limit {
			taken += n.amount
			enough[n.run] = true
		}
	}
	return enough
}

// hold delays the jobs of runs that ask behind one that there is not enough for.
// Nobody can know that before as much is certainly in use that it can never fit:
// calls in flight may fail and leave room. Until then it is first in the queue. How
// long that takes depends on when jobs end, and that on when runs begin; each round
// settles the runs behind one more of the refused.
func hold(jobs []Job, needs []need, limit, slots int) []Job {
	jobs = slices.Clone(jobs)
	enough := shares(needs, limit)
	arrival := map[int]time.Duration{}
	for _, j := range jobs {
		arrival[j.Run] = j.Release
	}
	for range len(needs) - len(enough) {
		ends := schedule(jobs, slots)
		release, earlier, decided := map[int]time.Duration{}, map[int]bool{}, time.Duration(0)
		for _, n := range needs {
			if enough[n.run] {
				earlier[n.run] = true
				release[n.run] = max(arrival[n.run], decided)
				continue
			}
			decided = max(decided, certain(jobs, ends, earlier, limit-n.amount))
		}
		for j := range jobs {
			if at, ok := release[jobs[j].Run]; ok {
				jobs[j].Release = at
			}
		}
	}
	return jobs
}

// certain is when more than so much is taken for certain by jobs of some runs:
// when enough of them have ended.
func certain(jobs []Job, ends []time.Duration, runs map[int]bool, most int) time.Duration {
	var takers []int
	for j := range jobs {
		if runs[jobs[j].Run] && jobs[j].Takes > 0 {
			takers = append(takers, j)
		}
	}
	slices.SortFunc(takers, func(a, b int) int { return int(ends[a] - ends[b]) })
	taken := 0
	for _, j := range takers {
		if taken += jobs[j].Takes; taken > most {
			return ends[j]
		}
	}
	return 0
}
