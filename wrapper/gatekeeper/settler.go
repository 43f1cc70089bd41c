// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

const (
	// firstLook and lastLook are the pauses between two reads of an object; each
	// is twice as long as the one before.
	firstLook = 500 * time.Millisecond
	lastLook  = 5 * time.Second
	// patientReads is how many reads of an object may fail before that is told.
	patientReads = 3
)

// settler finds out by reading how calls ended whose outcome nobody knows: those
// that this run waits for, and those of its own. A read proves something only
// under the rules of admission.Settle, which the coordinator applies; the
// settler reads until one does.
type settler struct {
	gate *Gatekeeper
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu sync.Mutex
	// taken are the calls that were looked into, each once in a run.
	taken map[admission.TxID]bool
}

func newSettler(g *Gatekeeper) *settler {
	ctx, stop := context.WithCancel(context.Background())
	return &settler{gate: g, ctx: ctx, stop: stop, taken: map[admission.TxID]bool{}}
}

func (s *settler) close() {
	s.stop()
	s.work.Wait()
}

// watch looks into what is in the way of a transaction as long as it waits.
// That a call became uncertain is no news to those who wait for it, so it is
// asked for again and again.
//
// A call of this run itself that became so is told and costs patience from then
// on: it does not end by itself like those that are under way.
func (s *settler) watch(ctx context.Context, tx admission.TxID, w *wait) {
	told := false
	for pause := range looks() {
		list, err := s.gate.session.Unsettled(ctx, tx)
		if err != nil && ctx.Err() == nil {
			s.gate.log.Debug("what is unsettled is not known", "tx", tx, "error", err)
		}
		for _, u := range list {
			s.begin(u)
		}
		if !told && slices.ContainsFunc(list, s.ours) {
			told = s.tellStuck(ctx, tx, w)
		}
		if !sleep(ctx, pause) {
			return
		}
	}
}

func (s *settler) ours(u coordinator.Unsettled) bool {
	return string(u.Session) == s.gate.session.ID()
}

// tellStuck shows what a transaction waits for by now.
func (s *settler) tellStuck(ctx context.Context, tx admission.TxID, w *wait) bool {
	report, _, err := s.gate.explain(ctx, tx)
	if err != nil || !stuck(report) {
		return false
	}
	w.show(client.Waiting{Tx: tx, Report: report})
	return true
}

// foreseeing is for how long a forecast waits for what it is held up by to be
// read. What takes longer goes on in the background.
const foreseeing = 3 * time.Second

// doubts are the calls with an unknown outcome that a forecast is held up by.
type doubts struct {
	// read are those that this run reads.
	read map[string]bool
	// settled is true when one of them is settled by now.
	settled bool
}

func (d doubts) reads(tx string) bool { return d.read[tx] }

// foreseen looks into the calls that a forecast is held up by, and waits a moment
// for what the reads show.
func (s *settler) foreseen(ctx context.Context, prospects []client.Prospect) doubts {
	d := doubts{read: map[string]bool{}}
	seen := map[string]bool{}
	var begun []<-chan struct{}
	for _, p := range prospects {
		if p.Report == nil {
			continue
		}
		for _, c := range p.Report.Conflicts {
			h := c.Holder
			if h == nil || h.State != conflict.Uncertain || seen[h.Tx] {
				continue
			}
			seen[h.Tx] = true
			u, ok := s.look(ctx, admission.TxID(h.Tx))
			if !ok {
				continue
			}
			_, err := s.gate.source(u.Self)
			d.read[h.Tx] = err == nil
			if done := s.begin(u); done != nil && err == nil {
				begun = append(begun, done)
			}
		}
	}
	late := time.After(foreseeing)
	for _, done := range begun {
		select {
		case <-done:
			d.settled = true
		case <-late:
			return d
		case <-ctx.Done():
			return d
		}
	}
	return d
}

// look finds out about a call of which only the transaction is known; ok is false
// when its outcome is known by now.
func (s *settler) look(ctx context.Context, tx admission.TxID) (u coordinator.Unsettled, ok bool) {
	report, status, err := s.gate.explain(ctx, tx)
	if err != nil || status != admission.Uncertain || report.Object == nil {
		return u, false
	}
	u = coordinator.Unsettled{
		Tx: tx, Self: graph.Decl{ID: graph.NodeID(report.Object.CloudID)}, Type: report.Object.Type,
		Address: report.Address, Action: admission.Action(report.Action), After: -1,
		Session: admission.SessionID(report.Requester.Session), Actor: report.Requester.Actor, Objective: report.Requester.Intent,
	}
	if chain, err := s.gate.ancestry(ctx, u.Self.ID); err == nil && len(chain) > 0 {
		u.Self = chain[len(chain)-1]
	}
	return u, true
}

// begin looks into a call, once. The channel is closed when it is settled, or
// nobody looks any more; it is nil when somebody looked before.
func (s *settler) begin(u coordinator.Unsettled) <-chan struct{} {
	if !s.take(u.Tx) {
		return nil
	}
	done := make(chan struct{})
	s.work.Go(func() {
		defer close(done)
		s.inquiry(u).run(s.ctx)
	})
	return done
}

// take says whether a call was not looked into before.
func (s *settler) take(tx admission.TxID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[tx] || s.ctx.Err() != nil {
		return false
	}
	s.taken[tx] = true
	return true
}

func (s *settler) inquiry(u coordinator.Unsettled) *inquiry {
	return &inquiry{gate: s.gate, call: u, told: s.gate.unknown(u)}
}

// own looks into a call of this very run, until ctx ends. What cannot be read
// is not told: the summary says enough of it.
func (s *settler) own(ctx context.Context, u coordinator.Unsettled) {
	if _, err := s.gate.source(u.Self); err != nil || !s.take(u.Tx) {
		return
	}
	q := s.inquiry(u)
	q.quiet = true
	q.run(ctx)
}

// unknown is a call as people are told of it.
func (g *Gatekeeper) unknown(u coordinator.Unsettled) views.Unknown {
	whose := "this run"
	if string(u.Session) != g.session.ID() {
		whose = u.Actor
		if u.Objective != "" {
			whose += fmt.Sprintf(" (%q)", u.Objective)
		}
	}
	return views.Unknown{Tx: string(u.Tx), Action: string(u.Action), Address: u.Address, Object: string(u.Self.ID), Whose: whose}
}

// inquiry is the reading of one object until it is known how a call on it
// ended.
type inquiry struct {
	gate *Gatekeeper
	call coordinator.Unsettled
	told views.Unknown
	// quiet keeps back that the object cannot be read; begun is true once it was
	// told that it is read.
	quiet, begun bool
	// failed counts the reads in a row that failed.
	failed int
	// seen is what was told of the last read.
	seen views.Found
	// earliest is when a read may begin whose finding was too early before.
	earliest time.Time
}

func (q *inquiry) run(ctx context.Context) {
	if q.call.After > 0 {
		q.earliest = time.Now().Add(q.call.After)
	}
	for pause := range looks() {
		if q.settled(ctx) || !sleep(ctx, pause) {
			return
		}
	}
}

// settled reads once, and says whether the matter is closed.
func (q *inquiry) settled(ctx context.Context) bool {
	if _, err := q.gate.source(q.call.Self); err != nil {
		q.unreadable(err)
		return false // a provider that can may be configured later
	}
	if !q.begun {
		q.begun = true
		q.gate.view.Reading(views.Reading{Unknown: q.told})
	}
	began := time.Now()
	r, err := q.gate.read(ctx, q.call.Self)
	if ctx.Err() != nil {
		return true
	}
	if err != nil {
		q.gate.log.WarnContext(ctx, "object of an unsettled call not read", "tx", q.call.Tx, "error", err)
		if q.failed++; q.failed >= patientReads {
			q.unreadable(err)
		}
		return false
	}
	q.failed = 0
	if !r.terminal || !q.proves(r) && began.Before(q.earliest) {
		q.tell(r)
		return false
	}
	return q.say(ctx, r)
}

// tell shows what was read that settles nothing yet, each time that it is
// something else.
func (q *inquiry) tell(r reading) {
	found := views.Absent
	switch {
	case !r.terminal:
		found = views.Busy
	case r.exists:
		found = views.Present
	}
	if found == q.seen {
		return
	}
	q.seen = found
	after := time.Duration(0)
	if found != views.Busy {
		after = max(time.Until(q.earliest), 0)
	}
	q.gate.view.Reading(views.Reading{Unknown: q.told, Found: found, After: after})
}

// proves says whether a finding settles the call whenever it was read: what a
// call was to make is there.
func (q *inquiry) proves(r reading) bool { return r.exists && q.call.Action == admission.Create }

// say tells the coordinator what was read.
func (q *inquiry) say(ctx context.Context, r reading) bool {
	err := q.gate.session.Settle(ctx, admission.Settle{
		Tx: q.call.Tx, Began: r.began.Index, BeganAt: r.began.At,
		Exists: r.exists, Terminal: r.terminal, Digest: r.seen.Observation.Digest,
	})
	var early *client.UnsettledError
	switch {
	case err == nil:
		told := views.Settled{Unknown: q.told, Exists: r.exists}
		q.gate.ledger.settled(told)
		q.gate.view.Settled(told)
		return true
	case errors.As(err, &early):
		q.earliest = time.Now().Add(early.After)
		q.tell(r)
		return false
	case errors.Is(err, admission.ErrStatus), errors.Is(err, admission.ErrNoTx):
		return true // somebody was faster
	default:
		q.gate.log.WarnContext(ctx, "reading not accepted", "tx", q.call.Tx, "error", err)
		return errors.Is(err, client.ErrSessionEnded)
	}
}

// unreadable tells, once, that a person is needed.
func (q *inquiry) unreadable(err error) {
	if q.quiet {
		return
	}
	q.quiet = true
	q.gate.view.Unreadable(views.Unreadable{Unknown: q.told, Reason: err.Error()})
}
