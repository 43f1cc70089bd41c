// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"slices"
	"sync"
	"time"
)

// Clock is the time source and the scheduler of a cloud.
type Clock interface {
	// Now is the current time.
	Now() time.Time
	// AfterFunc calls f once after d, on a goroutine of the clock's choice and
	// never before AfterFunc has returned. stop prevents a call that has not
	// begun; calling it later does nothing.
	AfterFunc(d time.Duration, f func()) (stop func())
}

// SystemClock is the time of the machine.
type SystemClock struct{}

// Now implements Clock.
func (SystemClock) Now() time.Time { return time.Now() }

// AfterFunc implements Clock with a runtime timer.
func (SystemClock) AfterFunc(d time.Duration, f func()) func() {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}

// VirtualClock is time that moves only when it is told to, for deterministic
// simulations. Timers due at the same instant run in the order they were set.
type VirtualClock struct {
	mu     sync.Mutex
	now    time.Time
	serial int
	timers []*virtualTimer
}

type virtualTimer struct {
	due    time.Time
	serial int
	f      func()
}

// NewVirtualClock makes a clock that stands at start.
func NewVirtualClock(start time.Time) *VirtualClock { return &VirtualClock{now: start} }

// Now implements Clock.
func (c *VirtualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc implements Clock; f runs inside a later Advance or Step.
func (c *VirtualClock) AfterFunc(d time.Duration, f func()) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serial++
	timer := &virtualTimer{due: c.now.Add(d), serial: c.serial, f: f}
	c.timers = append(c.timers, timer)
	return func() { c.drop(timer) }
}

func (c *VirtualClock) drop(timer *virtualTimer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timers = slices.DeleteFunc(c.timers, func(t *virtualTimer) bool { return t == timer })
}

// Advance moves time forward by d and runs the timers that become due, in
// order, each at its own instant.
func (c *VirtualClock) Advance(d time.Duration) {
	until := c.Now().Add(d)
	for {
		timer, ok := c.take(until)
		if !ok {
			break
		}
		timer.f()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = until
}

// Step moves time to the next timer and runs it. It reports false when no timer
// is set.
func (c *VirtualClock) Step() bool {
	timer, ok := c.take(time.Time{})
	if ok {
		timer.f()
	}
	return ok
}

// take removes the earliest timer that is due by the limit (a zero limit means
// any) and moves time to it.
func (c *VirtualClock) take(limit time.Time) (*virtualTimer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 {
		return nil, false
	}
	first := slices.MinFunc(c.timers, func(a, b *virtualTimer) int {
		if n := a.due.Compare(b.due); n != 0 {
			return n
		}
		return a.serial - b.serial
	})
	if !limit.IsZero() && first.due.After(limit) {
		return nil, false
	}
	c.timers = slices.DeleteFunc(c.timers, func(t *virtualTimer) bool { return t == first })
	if first.due.After(c.now) {
		c.now = first.due
	}
	return first, true
}
