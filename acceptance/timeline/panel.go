// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package timeline draws who did what when: one panel per policy, one lane per
// session, on one common time axis, as text and as SVG.
package timeline

import "time"

// Kind says what a segment stands for.
type Kind int

// The kinds of segment. Group, Network, Subnet, Machine and
// Removal are operations that the cloud accepted.
const (
	Group Kind = iota
	Network
	Subnet
	// Waiting is time in which a session waited for another one.
	Waiting
	// Broken is an operation that was accepted and did not succeed.
	Broken
	// Refused is the moment at which the cloud refused a call.
	Refused
	// Machine is an operation that makes a machine, Removal one that deletes it.
	Machine
	Removal
	// Spared is the moment at which a change was refused before the cloud was
	// called.
	Spared
)

// moment says whether a kind has no duration.
func (k Kind) moment() bool { return k == Refused || k == Spared }

// Segment is a stretch of a lane. Times count from the start of the panel.
type Segment struct {
	Kind     Kind
	Label    string
	From, To time.Duration
	// Note is the whole story of the segment.
	Note string
}

// Lane is what one session did.
type Lane struct {
	Name     string
	Segments []Segment
}

// Panel is one policy.
type Panel struct {
	Title, Summary string
	Lanes          []Lane
	// End is when the last operation ended.
	End time.Duration
}

// span is the time that an axis for all panels has to cover.
func span(panels []Panel) time.Duration {
	longest := time.Second
	for n, p := range panels {
		if n == 0 {
			longest = p.End
		}
		longest = max(longest, p.End)
		for _, l := range p.Lanes {
			for _, s := range l.Segments {
				longest = max(longest, s.To)
			}
		}
	}
	return max(longest, time.Millisecond)
}

// mostTicks is how many marks an axis may have at most, zero not counted.
const mostTicks = 12

// tick is the distance of an axis's marks: 1, 2 or 5 times a power of ten.
func tick(span time.Duration) time.Duration {
	for unit := time.Millisecond; ; unit *= 10 {
		for _, factor := range []time.Duration{1, 2, 5} {
			if step := factor * unit; span/step <= mostTicks {
				return step
			}
		}
	}
}
