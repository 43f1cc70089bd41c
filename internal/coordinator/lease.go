// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// expire ends the leases that ran out.
func (r *realm) expire() {
	if at, ok := r.state.NextDeadline(); !ok || at > r.stamp().Now {
		return
	}
	r.enter(r.internal(func(stamp admission.Stamp) admission.Command { return admission.Expire{Stamp: stamp} }))
}

// pardon grants everybody a full lease, as at a change of leader, when the
// coordinator itself was away: the timer that wakes it well within a lease came
// late, or an append took that long, so nobody could renew, or was heard.
func (r *realm) pardon() {
	now := r.c.now().UnixNano()
	late := time.Duration(now - r.due)
	if r.lost || r.due == 0 || r.lease == 0 || late <= slack(r.lease) {
		return
	}
	r.due = now + int64(wakeAfter(r.lease)) // an append may last on
	r.c.log.Warn("the coordinator was away; all leases begin anew", "late", late)
	r.enter(r.renewals()...)
}

// slack is how late the coordinator may wake before it takes that for its own
// pause. With wakeAfter it is at most half a lease, which is less than what is
// left of the lease of a session that renews in time.
func slack(lease time.Duration) time.Duration { return min(lease/3, pauseSlack) }

// wakeAfter is how long the coordinator sleeps at most while a lease runs.
func wakeAfter(lease time.Duration) time.Duration { return lease / 6 }

// internal is an op that the coordinator gives itself.
func (r *realm) internal(command func(admission.Stamp) admission.Command) *op {
	return &op{
		ctx:  r.c.life,
		done: make(chan struct{}),
		command: func(_ *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
			return command(stamp), nil
		},
	}
}

func (r *realm) renewals() []*op {
	var ops []*op
	for _, s := range r.state.Sessions() {
		if s.EndedAt == 0 {
			ops = append(ops, r.internal(func(stamp admission.Stamp) admission.Command {
				return admission.Renew{Stamp: stamp, Session: s.ID}
			}))
		}
	}
	return ops
}

// arm sets the timer to the earliest end of a lease, or to an earlier look at
// the clock.
func (r *realm) arm(t *time.Timer) {
	r.pardon() // what was done meanwhile may have taken long
	now := r.c.now().UnixNano()
	wait := time.Hour
	if at, ok := r.state.NextDeadline(); ok {
		wait = min(wakeAfter(r.lease), max(0, time.Duration(at-now)))
	}
	r.due = now + int64(wait)
	t.Reset(wait)
}
