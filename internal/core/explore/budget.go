// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"fmt"
	"strconv"
	"strings"
)

// farthest is the largest budget: beyond it the memory of one configuration is
// not enough.
const farthest = 1000

// Budget is the campaign of a name: short, long, or a number of times as far as
// short. It begins with the runs of a seed; with a name, it explores only the
// configurations that have that in theirs.
func Budget(name string, seed int, only string) (Campaign, error) {
	factor := 1
	switch name {
	case "short":
	case "long":
		factor = 20
	default:
		n, err := strconv.Atoi(name)
		if err != nil || n < 1 || n > farthest {
			return Campaign{}, fmt.Errorf("budget %q is not short, long or a number from 1 to %d", name, farthest)
		}
		factor = n
	}
	x := Campaign{Codec: max(1, 256/factor)}
	add := func(c *Config, worlds int) {
		per := 40
		if !c.Journal {
			per = 20 // fewer worlds around each state of the core
		}
		if strings.Contains(c.Name, only) {
			worlds *= factor
			x.Jobs = append(x.Jobs, Job{c, Limit{Worlds: worlds, Cores: worlds / per}})
		}
	}
	for _, c := range Scenarios() {
		add(c, 300_000)
	}
	for _, c := range Telling() {
		add(c, 60_000)
	}
	for _, part := range []struct{ size, stride, worlds int }{{2, 29, 60_000}, {3, 1801, 120_000}, {4, 20011, 200_000}} {
		for c := range Networks(part.size, max(1, part.stride/factor)) {
			add(c, part.worlds)
		}
	}
	for c := range Runs(seed, 50*factor) {
		add(c, 40_000)
	}
	if len(x.Jobs) == 0 {
		return x, fmt.Errorf("no configuration is called %q", only)
	}
	return x, nil
}
