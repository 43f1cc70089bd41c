// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"fmt"
	"slices"
	"strings"
)

// Parse reads the configuration and the history of a finding out of what Error
// printed, with or without other lines before and after.
func Parse(text string) (*Finding, error) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, configMark) && !strings.HasPrefix(l, " ") })
	if at < 0 {
		return nil, fmt.Errorf("no line names a configuration")
	}
	name, _, _ := strings.Cut(lines[at], configMark)
	c, err := named(name)
	if err != nil {
		return nil, err
	}
	f := &Finding{Config: c}
	for _, l := range lines[at+1:] {
		step, indented := strings.CutPrefix(l, "  ")
		if !indented {
			break
		}
		if strings.HasPrefix(step, "s") && strings.Contains(step, " (") && strings.Contains(step, "):") {
			continue // a session of the configuration
		}
		m, err := parseMove(step)
		if err != nil {
			return nil, err
		}
		f.History = append(f.History, m)
	}
	if len(f.History) == 0 {
		return nil, fmt.Errorf("%s has no steps", name)
	}
	return f, nil
}

// parseMove is the inverse of String, whatever is said behind it.
func parseMove(s string) (move, error) {
	var name string
	var who uint8
	if _, err := fmt.Sscanf(s, "%s %d", &name, &who); err != nil {
		return move{}, fmt.Errorf("step %q: %w", s, err)
	}
	k := slices.Index(kindNames[:], name)
	if k < 0 || who >= maxOps {
		return move{}, fmt.Errorf("step %q: nobody makes such a one", s)
	}
	return move{kind(k), who}, nil
}

// named is the configuration of a name, of whatever budget.
func named(name string) (*Config, error) {
	var number, size int
	if _, err := fmt.Sscanf(name, "runs/%d", &number); err == nil {
		return runsOf(number), nil
	}
	if _, err := fmt.Sscanf(name, "network/%d/%d ", &size, &number); err == nil && size >= 2 && size <= 4 && number > 0 {
		for c := range Networks(size, number) {
			if c.Name == name {
				return c, nil
			}
			break // the first of this stride is the one of this number
		}
	}
	for _, c := range append(Scenarios(), Telling()...) {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("no configuration is called %q", name)
}

// Again makes the history of a finding again, and returns what it breaks now:
// nil for nothing, or if a step of it is not possible any more.
func (f *Finding) Again() *Finding {
	f.Config.prepare()
	_, v := follow(f.Config, f.History)
	if v == nil {
		return nil
	}
	return &Finding{Config: f.Config, History: f.History, Cause: v}
}
