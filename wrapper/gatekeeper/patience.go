// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"sync"
	"time"
)

// patience is a budget of time that runs out only while another session is
// in the way: waiting for a sibling call of the same run costs nothing.
type patience struct {
	mu      sync.Mutex
	left    time.Duration
	since   time.Time
	running bool
	timer   *time.Timer
	spent   func()
	now     func() time.Time
}

// newPatience calls spent, once, when the budget is used up. A budget of zero
// never runs out: then the coordinator refuses by itself.
func newPatience(budget time.Duration, spent func()) *patience {
	return &patience{left: budget, spent: spent, now: time.Now}
}

// run makes the budget run down, or stops that.
func (p *patience) run(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if on == p.running {
		return
	}
	p.running = on
	if on {
		p.since = p.now()
		if p.left > 0 {
			p.timer = time.AfterFunc(p.left, p.spent)
		}
		return
	}
	if p.timer != nil {
		p.timer.Stop()
		p.left = max(p.left-p.now().Sub(p.since), 1)
	}
}

// stop ends the matter.
func (p *patience) stop() { p.run(false) }
