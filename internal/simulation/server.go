// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"errors"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

const (
	// pauseSlack is how late a coordinator may wake before it takes that for its
	// own pause; with a share of the lease, as in package coordinator.
	pauseSlack = 5 * time.Second
	// snapshotEvery is after how many records a snapshot is saved, and retain how
	// many before it are kept.
	snapshotEvery, retain = 60, 20
	// deathWatch is how often a coordinator looks for dead processes at least.
	deathWatch = 5 * time.Second
)

// role is what a server does at the moment.
type role int

const (
	standby role = iota
	preparing
	leading
)

// server is one coordinator: the steps of package coordinator, without its
// goroutines. The state may be ahead of the journal while busy is set, or after
// the append failed.
type server struct {
	*process
	disk *disk
	role role

	state *admission.State
	epoch journal.Epoch
	last  journal.Index

	queue []waiting
	busy  bool
	// due is when the timer should wake the server, on its own clock; 0 for not
	// armed. timer numbers the timers, of which the last counts.
	due        int64
	timer      int
	snapshotAt journal.Index
}

// waiting is a request with the way back; nil for one of the server's own.
type waiting struct {
	request
	back func(reply)
}

// receive takes a request.
func (s *server) receive(r request, back func(reply)) {
	if s.role != leading {
		back(reply{err: errAway})
		return
	}
	s.queue = append(s.queue, waiting{r, back})
	s.work()
}

func (s *server) now() int64 { return s.machine.wall().UnixNano() }

// stamp is the time of the next record: it never goes back.
func (s *server) stamp() admission.Stamp {
	return admission.Stamp{Now: max(s.state.Now()+1, s.now())}
}

// decided is what one batch will journal, and what was decided about each of its
// requests.
type decided struct {
	records [][]byte
	batch   []waiting
	errs    []error
}

// work takes all requests that came while the last batch was written.
func (s *server) work() {
	if s.busy || s.role != leading || len(s.queue) == 0 {
		return
	}
	batch := s.queue
	s.queue = nil
	if late := s.pardon(); late != nil {
		batch = append(late, batch...)
	}
	s.commit(batch)
}

// commit decides a batch, journals it in one append, and only then answers.
func (s *server) commit(batch []waiting) {
	d := decided{batch: batch}
	for _, r := range batch {
		d.errs = append(d.errs, s.decide(r.request, &d))
	}
	if s.w.flaw.answerFirst {
		s.answer(d)
		d.batch, d.errs = nil, nil
	}
	if len(d.records) == 0 {
		s.answer(d)
		return
	}
	s.busy = true
	s.after(s.w.between(200*time.Microsecond, 8*time.Millisecond), func() { s.append(d) })
}

func (s *server) decide(r request, d *decided) (err error) {
	if r.command == nil {
		return nil
	}
	command, err := r.command(s.state, s.stamp(), s.state.Index()+1)
	if err != nil || command == nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			s.w.fail("the machine contradicted itself: %T: %v", command, p)
		}
	}()
	return s.apply(s.w.flaw.tamper(s, command), d)
}

func (s *server) apply(command admission.Command, d *decided) error {
	events, err := s.state.Apply(command)
	if err != nil || len(events) == 0 {
		return err
	}
	record := admission.Record{Index: s.state.Index(), Now: s.state.Now(), Command: command, Events: events}
	data, err := admission.EncodeRecord(record)
	if err != nil {
		s.w.fail("encode record %d: %v", record.Index, err)
		return err
	}
	d.records = append(d.records, data)
	s.w.logf(s.name, "%d %s", record.Index, describe(record))
	return nil
}

// append journals a batch; a crash may come in between.
func (s *server) append(d decided) {
	switch {
	case s.w.strikes(JournalTorn):
		s.crash("torn append")
		return
	case s.w.strikes(JournalCut):
		if _, err := s.disk.write(s.w.ctx, s.epoch, s.last, d.records); err == nil {
			s.crash("cut append")
			return
		}
	}
	last, err := s.disk.Append(s.w.ctx, s.w.flaw.epoch(s), s.w.flaw.behind(s), d.records)
	s.busy = false
	if err == nil && uint64(last) != s.state.Index() {
		s.w.fail("the journal is at %d, the state at %d", last, s.state.Index())
	}
	if err != nil {
		s.stepDown(d, err)
		return
	}
	s.last = last
	s.w.judge.appended(s)
	s.answer(d)
	s.maybeSnapshot()
	s.work()
}

// answer lets everybody know what is now on record.
func (s *server) answer(d decided) {
	for i, r := range d.batch {
		back := reply{err: d.errs[i], epoch: uint64(s.epoch)}
		if back.err == nil && r.answer != nil {
			back.value, back.err = r.answer(s.state, s)
		}
		if r.back != nil {
			s.w.judge.answered(s, r.request, back)
			r.back(back)
		}
	}
	s.arm()
}

// pardon grants everybody a full lease when the server itself was away.
func (s *server) pardon() []waiting {
	lease := s.lease()
	late := time.Duration(s.now() - s.due)
	if s.due == 0 || lease == 0 || late <= min(lease/3, pauseSlack) {
		return nil
	}
	s.due = 0
	s.logf("was away for %v; all leases begin anew", late)
	return s.renewals()
}

func (s *server) renewals() []waiting {
	var list []waiting
	for _, x := range s.state.Sessions() {
		if x.EndedAt == 0 {
			list = append(list, own("lease anew", func(stamp admission.Stamp) admission.Command {
				return admission.Renew{Stamp: stamp, Session: x.ID}
			}))
		}
	}
	return list
}

func own(name string, command func(admission.Stamp) admission.Command) waiting {
	return waiting{request: request{name: name, command: func(_ *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
		return command(stamp), nil
	}}}
}

// lease is the shortest of the live sessions', 0 for none.
func (s *server) lease() time.Duration {
	least := time.Duration(0)
	for _, x := range s.state.Sessions() {
		if x.EndedAt == 0 && (least == 0 || time.Duration(x.Lease) < least) {
			least = time.Duration(x.Lease)
		}
	}
	return least
}

// arm sets the timer to the earliest end of a lease, or to an earlier look at
// the clock and at the processes.
func (s *server) arm() {
	if s.role != leading {
		return
	}
	now, wait := s.now(), deathWatch
	if at, ok := s.state.NextDeadline(); ok {
		wait = min(wait, s.lease()/6, max(0, time.Duration(at-now)))
	}
	s.due = now + int64(wait)
	s.timer++
	timer, epoch := s.timer, s.epoch
	s.after(wait, func() {
		if s.timer == timer && s.epoch == epoch && s.role == leading {
			s.wake()
		}
	})
}

// wake ends the leases that ran out, and tells of processes that are dead.
func (s *server) wake() {
	if s.busy {
		timer := s.timer
		s.after(time.Millisecond, func() {
			if s.timer == timer && s.role == leading {
				s.wake()
			}
		})
		return
	}
	batch := s.pardon()
	if at, ok := s.state.NextDeadline(); ok && at <= s.stamp().Now && batch == nil {
		batch = append(batch, own("expire", func(stamp admission.Stamp) admission.Command { return admission.Expire{Stamp: stamp} }))
	}
	batch = append(batch, s.w.flaw.expired(s)...)
	batch = append(batch, s.dead()...)
	s.commit(batch)
}

// dead are the sessions on this machine's watch of which no process lives. The
// session is over then; nothing can be sent in its name any more.
func (s *server) dead() []waiting {
	var list []waiting
	for _, x := range s.state.Sessions() {
		if x.DeadAt == 0 && s.w.allDead(x.ID) {
			list = append(list, own("deceased", func(stamp admission.Stamp) admission.Command {
				return admission.Deceased{Stamp: stamp, Session: x.ID}
			}))
		}
	}
	return list
}

// stepDown fails everybody whose command may or may not be on record, throws the
// state away, and leads again if it is still the one to lead.
func (s *server) stepDown(d decided, cause error) {
	s.logf("steps down: %v", cause)
	for _, r := range append(d.batch, s.queue...) {
		if r.back != nil {
			r.back(reply{err: errAway})
		}
	}
	s.forget()
	if errors.Is(cause, journal.ErrFenced) {
		s.role = standby
		return
	}
	s.leadIn(s.w.between(10*time.Millisecond, time.Second))
}

func (s *server) forget() {
	s.queue, s.busy, s.state, s.due = nil, false, nil, 0
	s.role = preparing
	s.timer++
}

// crash ends the process; another one is started in its place.
func (s *server) crash(why string) {
	s.logf("crashes: %s", why)
	s.w.judge.crashed(s)
	s.kill()
	s.forget()
	s.role = standby
	s.w.fail1(s.w.store.close(s))
	s.w.clock.AfterFunc(s.w.between(200*time.Millisecond, 8*time.Second), func() {
		s.start()
		s.w.fail1(s.w.store.open(s))
		if s.w.leader == s {
			s.leadIn(0)
		}
	})
	s.w.replace(s)
}
