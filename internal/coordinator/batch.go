// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// batch is what one append journals: commands, what was decided about them, and
// questions that came between them. While one batch is being written the next
// is decided, on the state that the first one leaves. Nobody is answered before
// his batch is in the journal; when that fails, so do all that were decided
// since.
type batch struct {
	ops     []*op
	records [][]byte
	news    []Event
	size    int
	// index is that of the last record.
	index uint64
	// view is the state as this batch leaves it. It is nil as long as nothing
	// was decided since.
	view *admission.State
}

func (b *batch) full() bool { return len(b.ops) >= maxBatch || b.size >= maxBatchBytes }

// landing is what became of a flight.
type landing struct {
	last journal.Index
	err  error
}

// take decides a command and all that arrived while the last batch was written.
func (r *realm) take(first *op) {
	for o := first; o != nil; o = r.another() {
		if !r.admit(o) {
			return
		}
	}
	r.launch()
}

// another is the next command that waits, if there is room for it.
func (r *realm) another() *op {
	if r.next.full() {
		return nil
	}
	select {
	case o := <-r.c.ops:
		return o
	default:
		return nil
	}
}

// enter decides the coordinator's own commands.
func (r *realm) enter(ops ...*op) {
	for _, o := range ops {
		if !r.admit(o) {
			return
		}
	}
	r.launch()
}

// admit decides one command. It is false when the state contradicted itself and
// was given up, with all that was decided and not yet written.
func (r *realm) admit(o *op) bool {
	r.next.ops = append(r.next.ops, o)
	r.c.decided.Store(int64(len(r.next.ops)))
	r.decide(o, &r.next)
	if !errors.Is(o.err, ErrBroken) {
		return true
	}
	if r.flight != nil {
		if err := r.settle(<-r.landed); err != nil {
			r.stepDown(err)
			return false
		}
	}
	r.stepDown(o.err)
	return false
}

// decide applies one command to the state and notes its record.
func (r *realm) decide(o *op, b *batch) {
	if o.err = o.ctx.Err(); o.err != nil || o.command == nil {
		return
	}
	if r.flight != nil && r.flight.view == nil {
		r.flight.view = r.state.Clone()
	}
	command, err := o.command(r.state, r.stamp(), r.state.Index()+1)
	if err != nil || command == nil {
		o.err = err
		return
	}
	o.err = r.apply(command, b)
}

func (r *realm) apply(command admission.Command, b *batch) (err error) {
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
	b.records = append(b.records, data)
	b.size += len(data)
	b.index = record.Index
	for _, e := range events {
		b.news = append(b.news, Event{Index: record.Index, Event: e})
	}
	return nil
}

// stamp is the time of the next record: it never goes back.
func (r *realm) stamp() admission.Stamp {
	return admission.Stamp{Now: max(r.state.Now()+1, r.c.now().UnixNano())}
}

// launch begins to write the next batch, unless one is being written. One
// without records is answered at once.
func (r *realm) launch() {
	if r.flight != nil || len(r.next.ops) == 0 {
		return
	}
	b := r.next
	r.next = batch{}
	r.c.decided.Store(0)
	if len(b.records) == 0 {
		r.view = r.state
		r.answer(&b)
		return
	}
	r.flight = &b
	epoch, after := r.epoch, r.last
	go func() { r.landed <- r.write(epoch, after, &b) }()
}

// write uses nothing of r that changes.
func (r *realm) write(epoch journal.Epoch, after journal.Index, b *batch) landing {
	last, err := r.c.config.Journal.Append(r.c.life, epoch, after, b.records)
	if err == nil && uint64(last) != b.index {
		err = fmt.Errorf("%w: the journal is at %d, the state at %d", ErrBroken, last, b.index)
	}
	return landing{last, err}
}

// land answers those whose batch was written, does what had to wait, and sends
// the next batch off.
func (r *realm) land(l landing) {
	if err := r.settle(l); err != nil {
		r.stepDown(err)
		return
	}
	select {
	case <-r.refresh:
		r.refresh = nil
		r.refollow()
	default:
	}
	r.pardon()
	r.expire()
	r.launch()
}

// settle ends the flight and answers everybody in it. After an error they are
// still there, for stepDown.
func (r *realm) settle(l landing) error {
	b := r.flight
	if l.err != nil {
		return l.err
	}
	r.flight = nil
	r.recorded(l.last, b)
	if r.view = b.view; r.view == nil {
		r.view = r.state
	}
	r.answer(b)
	return nil
}

// recorded takes note of what is in the journal.
func (r *realm) recorded(last journal.Index, b *batch) {
	r.last = last
	r.covered.since += b.size
	r.c.index.Store(uint64(last))
}

// answer lets everybody know what is now on record.
func (r *realm) answer(b *batch) {
	r.publish(b.news)
	for _, o := range b.ops {
		if !o.taken.CompareAndSwap(false, true) {
			continue // nobody waits any more
		}
		if o.err == nil && o.after != nil {
			o.err = o.after(r.view)
		}
		close(o.done)
	}
	r.maybeSnapshot()
}
