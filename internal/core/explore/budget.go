// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"fmt"
	"strconv"
	"strings"
)

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
		if err != nil || n < 1 {
			return Campaign{}, fmt.Errorf("budget %q is not short, long or a positive number", name)
		}
		factor = n
	}
	x := Campaign{Limit: 300_000 * factor, Codec: max(1, 64/factor)}
	add := func(c *Config) {
		if strings.Contains(c.Name, only) {
			x.Configs = append(x.Configs, c)
		}
	}
	for _, c := range Scenarios() {
		add(c)
	}
	for _, c := range Telling() {
		add(c)
	}
	for c := range Runs(seed, 100*factor) {
		add(c)
	}
	for _, part := range []struct{ size, stride int }{{2, 13}, {3, 1801}, {4, 50021}} {
		for c := range Networks(part.size, max(1, part.stride/factor)) {
			add(c)
		}
	}
	if len(x.Configs) == 0 {
		return x, fmt.Errorf("no configuration is called %q", only)
	}
	return x, nil
}
