// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Backoff is how a provider tries again after the cloud was busy: after a random
// part of a time that doubles with each try, as the clouds' own SDKs do.
type Backoff struct {
	First, Most time.Duration
	// Tries is how often a call is sent at most.
	Tries int
}

// DefaultBackoff is that of a patient provider: 25 retries, the longest after 20
// seconds.
func DefaultBackoff() Backoff { return Backoff{First: time.Second, Most: 20 * time.Second, Tries: 26} }

// after is how long to wait after so many tries; ok is false when there were
// enough.
func (b Backoff) after(tries int, chance *rand.Rand) (wait time.Duration, ok bool) {
	if tries >= b.Tries {
		return 0, false
	}
	most := b.First << min(tries-1, 20)
	if most > b.Most || most <= 0 {
		most = b.Most
	}
	return time.Duration(chance.Float64() * float64(most)), true
}

// busy says whether the cloud refused a call because of another one in flight,
// which a provider tries again.
func busy(e *arm.Error) bool {
	return e.Code == arm.CodeAnotherOperationInProgress || e.Code == arm.CodeConcurrentModification || e.Code == arm.CodeResourceConflict
}

// uncoordinated sends everything at once and tries again what the cloud was too
// busy for.
type uncoordinated struct {
	*player
	backoff Backoff
	chance  *rand.Rand
	// gaveUp counts calls that were tried often enough.
	gaveUp int
}

func (u *uncoordinated) arrive(r *run)     { u.begin(r) }
func (u *uncoordinated) ready(c *call)     { u.send(c) }
func (u *uncoordinated) starting(*call)    {}
func (u *uncoordinated) ended(*call, bool) {}
func (u *uncoordinated) finished(*run)     {}

func (u *uncoordinated) refused(c *call, e *arm.Error) (time.Duration, bool) {
	if !busy(e) {
		return 0, false
	}
	wait, ok := u.backoff.after(c.tries, u.chance)
	if !ok {
		u.gaveUp++
	}
	return wait, ok
}

// serial lets one run apply after another.
type serial struct {
	uncoordinated
	queue []*run
}

func (s *serial) arrive(r *run) {
	s.queue = append(s.queue, r)
	if len(s.queue) == 1 {
		s.begin(r)
	}
}

func (s *serial) finished(*run) {
	s.queue = s.queue[1:]
	if len(s.queue) > 0 {
		s.begin(s.queue[0])
	}
}

// grouped lets a run hold each resource group that it works in, from its first
// call to its last: first come, first served, all groups in one step.
type grouped struct {
	uncoordinated
	held  map[string]bool
	queue []*run
}

func (g *grouped) arrive(r *run) {
	g.queue = append(g.queue, r)
	g.serve()
}

func (g *grouped) finished(r *run) {
	for _, name := range r.session.Groups {
		delete(g.held, name)
	}
	g.serve()
}

// serve begins all runs that can: nobody overtakes one that wants a group of his.
func (g *grouped) serve() {
	wanted := map[string]bool{}
	var begun []*run
	g.queue = slices.DeleteFunc(g.queue, func(r *run) bool {
		blocked := slices.ContainsFunc(r.session.Groups, func(name string) bool { return g.held[name] || wanted[name] })
		for _, name := range r.session.Groups {
			if blocked {
				wanted[name] = true
			} else {
				g.held[name] = true
			}
		}
		if !blocked {
			begun = append(begun, r)
		}
		return !blocked
	})
	for _, r := range begun {
		g.begin(r)
	}
}
