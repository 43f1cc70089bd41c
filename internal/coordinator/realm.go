// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// realm is the part of a coordinator that one goroutine owns: the state, and
// who wants to hear of it.
type realm struct {
	c     *Coordinator
	state *admission.State
	epoch journal.Epoch
	last  journal.Index
	// ahead is set while the state may hold more than the journal does.
	ahead bool

	followers map[admission.TxID]map[*Follower]struct{}
	moved     bool // the queue moved since the followers were refreshed
	watchers  map[*Watcher]struct{}
	peers     peers

	// lease is the shortest of the live sessions', 0 for none.
	lease time.Duration
	// due is when the timer should wake the coordinator, in nanoseconds since
	// the Unix epoch; 0 before it was set.
	due int64

	covered covered
	// saving receives how far a snapshot goes once it was saved; nil while none
	// is being saved.
	saving chan covered
}

func newRealm(c *Coordinator) realm {
	return realm{
		c:         c,
		followers: map[admission.TxID]map[*Follower]struct{}{},
		watchers:  map[*Watcher]struct{}{},
	}
}

// run owns the state until the coordinator is closed.
func (r *realm) run() {
	defer close(r.c.stopped)
	deadline := time.NewTimer(time.Hour)
	defer deadline.Stop()
	var refresh <-chan time.Time // nil while nobody would hear anything new
	for {
		r.arm(deadline)
		if refresh == nil && r.moved && len(r.followers) > 0 {
			refresh = time.After(r.c.config.Refresh)
		}
		select {
		case <-r.c.stop:
			r.shutDown()
			return
		case o := <-r.c.ops:
			r.pardon() // before a command is judged by a lease
			r.commit(r.collect(o))
		case <-deadline.C:
			r.pardon()
			r.expire()
		case <-refresh:
			refresh = nil
			r.refollow()
		case s := <-r.saving:
			r.saved(s)
		}
	}
}

// collect takes the commands that arrived while the last batch was written.
func (r *realm) collect(first *op) []*op {
	batch := []*op{first}
	for len(batch) < maxBatch {
		select {
		case o := <-r.c.ops:
			batch = append(batch, o)
		default:
			return batch
		}
	}
	return batch
}

// decided is what one batch will journal.
type decided struct {
	records [][]byte
	news    []Event
	size    int
}

// commit decides a batch, journals it in one append, and only then answers.
func (r *realm) commit(batch []*op) {
	for len(batch) > 0 {
		var d decided
		n := 0
		for n < len(batch) && d.size < maxBatchBytes {
			r.decide(batch[n], &d)
			n++
			if errors.Is(batch[n-1].err, ErrBroken) {
				r.stepDown(batch, batch[n-1].err)
				return
			}
		}
		if err := r.append(d); err != nil {
			r.stepDown(batch, err)
			return
		}
		r.answer(batch[:n], d)
		batch = batch[n:]
	}
}

// decide applies one command to the state and notes its record.
func (r *realm) decide(o *op, d *decided) {
	if o.err = o.ctx.Err(); o.err != nil || o.command == nil {
		return
	}
	command, err := o.command(r.state, r.stamp(), r.state.Index()+1)
	if err != nil || command == nil {
		o.err = err
		return
	}
	o.err = r.apply(command, d)
}

func (r *realm) apply(command admission.Command, d *decided) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.c.log.Error("the machine contradicted itself", "command", fmt.Sprintf("%T", command), "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: %T: %v", ErrBroken, command, p)
		}
	}()
	events, err := r.state.Apply(command)
	if err != nil || len(events) == 0 {
		return err
	}
	record := admission.Record{Index: r.state.Index(), Now: r.state.Now(), Command: command, Events: events}
	data, err := admission.EncodeRecord(record)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	d.records = append(d.records, data)
	d.size += len(data)
	for _, e := range events {
		d.news = append(d.news, Event{Index: record.Index, Event: e})
	}
	return nil
}

// stamp is the time of the next record: it never goes back.
func (r *realm) stamp() admission.Stamp {
	return admission.Stamp{Now: max(r.state.Now()+1, r.c.now().UnixNano())}
}

func (r *realm) append(d decided) error {
	if len(d.records) == 0 {
		return nil
	}
	last, err := r.c.config.Journal.Append(r.c.life, r.epoch, r.last, d.records)
	if err != nil {
		return err
	}
	if uint64(last) != r.state.Index() {
		return fmt.Errorf("%w: the journal is at %d, the state at %d", ErrBroken, last, r.state.Index())
	}
	r.last = last
	r.covered.since += d.size
	r.c.index.Store(uint64(last))
	return nil
}

// answer lets everybody know what is now on record.
func (r *realm) answer(batch []*op, d decided) {
	r.publish(d.news)
	for _, o := range batch {
		if !o.taken.CompareAndSwap(false, true) {
			continue // nobody waits any more
		}
		if o.err == nil && o.after != nil {
			o.err = o.after(r.state)
		}
		close(o.done)
	}
	r.maybeSnapshot()
}

// expire ends the leases that ran out.
func (r *realm) expire() {
	if at, ok := r.state.NextDeadline(); !ok || at > r.stamp().Now {
		return
	}
	r.commit([]*op{r.internal(func(stamp admission.Stamp) admission.Command { return admission.Expire{Stamp: stamp} })})
}

// pardon grants everybody a full lease, as at a change of leader, when the
// coordinator itself was away: the timer that wakes it well within a lease came
// late, so nobody could renew, or was heard.
func (r *realm) pardon() {
	late := time.Duration(r.c.now().UnixNano() - r.due)
	if r.due == 0 || r.lease == 0 || late <= slack(r.lease) {
		return
	}
	r.due = 0
	r.c.log.Warn("the coordinator was away; all leases begin anew", "late", late)
	r.commit(r.renewals())
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

// stepDown fails everybody whose command may or may not be on record, throws
// the state away, and leads again until that works or the coordinator closes.
func (r *realm) stepDown(batch []*op, cause error) {
	r.c.log.Error("stepping down", "epoch", r.epoch, "index", r.last, "error", cause)
	for _, o := range batch {
		if !o.taken.CompareAndSwap(false, true) {
			continue
		}
		if !errors.Is(o.err, ErrBroken) {
			o.err = fmt.Errorf("%w: %w", ErrUnavailable, cause)
		}
		close(o.done)
	}
	r.ahead = true
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := r.leadUnlessStopped()
		if err == nil {
			return
		}
		r.c.log.Error("cannot lead", "error", err)
		if !r.turnAway(pause, err) {
			return
		}
	}
}

// turnAway answers everybody who comes within a pause that there is nobody to
// decide, so that they do not wait for a disk that stays full. It is false when
// the coordinator is closing.
func (r *realm) turnAway(pause time.Duration, cause error) bool {
	over := time.After(pause)
	for {
		select {
		case o := <-r.c.ops:
			if !o.taken.CompareAndSwap(false, true) {
				continue
			}
			if o.err = fmt.Errorf("%w: %w", ErrUnavailable, cause); o.leaving {
				o.err = o.after(nil)
			}
			close(o.done)
		case <-over:
			return true
		case <-r.c.stop:
			return false
		}
	}
}

func (r *realm) leadUnlessStopped() error {
	ctx, cancel := context.WithCancel(r.c.life)
	defer cancel()
	quit := make(chan struct{})
	defer close(quit)
	go func() {
		select {
		case <-r.c.stop:
			cancel()
		case <-quit:
		}
	}()
	return r.lead(ctx)
}

// shutDown answers whoever still waits, and saves the state for a quick start.
func (r *realm) shutDown() {
	if r.saving != nil {
		r.saved(<-r.saving)
	}
	if r.last > r.covered.at && !r.ahead {
		if _, err := r.save(r.c.life, r.state, r.last, r.epoch); err != nil {
			r.c.log.Warn("no snapshot at the end", "error", err)
		}
	}
	for w := range r.watchers {
		r.dropWatcher(w, ErrUnavailable)
	}
	for _, set := range r.followers {
		for f := range set {
			f.fail(ErrUnavailable)
		}
	}
	for {
		select {
		case o := <-r.c.ops:
			if o.taken.CompareAndSwap(false, true) {
				o.err = ErrUnavailable
				close(o.done)
			}
		default:
			return
		}
	}
}
