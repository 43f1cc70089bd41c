// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"slices"
	"sync"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// wait shows a call that waits behind another session: at once, and then
// again and again. Waiting for a sibling of the same run is not shown; it is
// what Terraform's own order looks like.
type wait struct {
	gate     *Gatekeeper
	address  string
	patience *patience

	mu     sync.Mutex
	last   *conflict.Report
	lastAt time.Time // when last came
	since  time.Time // of the first wait behind another session
	timer  *time.Ticker
	done   chan struct{}
	ended  bool
	behind string
	// parties are all other sessions that were in the way, in order.
	parties []views.Party
	// foreign is for how long they were, up to turned; on says whether one is
	// in the way since then.
	foreign time.Duration
	turned  time.Time
	on      bool
}

func newWait(p *petition, patience *patience) *wait {
	return &wait{gate: p.gate, address: p.name, patience: patience, done: make(chan struct{})}
}

// after carries on from an earlier wait of the same request, which may be nil: a
// refusal that is looked at again is one story with what comes then.
func (w *wait) after(earlier *wait) *wait {
	if earlier != nil {
		earlier.stop()
		earlier.mu.Lock()
		defer earlier.mu.Unlock()
		w.since, w.foreign, w.parties = earlier.since, earlier.foreign, slices.Clone(earlier.parties)
	}
	return w
}

// show takes what the coordinator says about the wait.
func (w *wait) show(news client.Waiting) {
	news.Foreign = news.Foreign || stuck(news.Report)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.patience.run(news.Foreign)
	}
	now := time.Now()
	report := named(w.gate.documented(news.Report), w.address)
	w.last, w.lastAt = &report, now
	w.turn(now, news.Foreign)
	if !news.Foreign || w.ended {
		return
	}
	w.blame(report)
	before := w.behind
	w.behind = views.Holders(report)
	switch {
	case w.timer != nil && w.behind != before:
		w.gate.view.Waiting(views.Waiting{Address: w.address, Report: report, Waited: now.Sub(w.since)})
	case w.timer == nil:
		w.since = now
		w.timer = time.NewTicker(w.gate.config.Repeat)
		w.gate.view.Waiting(views.Waiting{Address: w.address, Report: report})
		go w.remind(w.timer.C)
	}
}

// stuck says whether a call with an unknown outcome is in the way: also one of
// this very run ends by itself only if it can be read.
func stuck(r conflict.Report) bool {
	return slices.ContainsFunc(r.Conflicts, func(c conflict.Conflict) bool { return c.Holder != nil && c.Holder.State == conflict.Uncertain })
}

// turn notes from when on another session is in the way, or a sibling call.
func (w *wait) turn(now time.Time, on bool) {
	if w.on {
		w.foreign += now.Sub(w.turned)
	}
	w.on, w.turned = on, now
}

// blame adds the sessions of a report to those that were in the way.
func (w *wait) blame(report conflict.Report) {
	for _, p := range views.Foreign(report) {
		if !slices.Contains(w.parties, p) {
			w.parties = append(w.parties, p)
		}
	}
}

func (w *wait) remind(tick <-chan time.Time) {
	for {
		select {
		case <-tick:
			w.mu.Lock()
			if !w.ended && w.on { // behind a sibling there is nothing to say
				w.gate.view.Waiting(views.Waiting{Address: w.address, Report: aged(*w.last, time.Since(w.lastAt)), Waited: time.Since(w.since)})
			}
			w.mu.Unlock()
		case <-w.done:
			return
		}
	}
}

// stop ends the reminders.
func (w *wait) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.ended = true
	w.turn(time.Now(), false)
	close(w.done)
	if w.timer != nil {
		w.timer.Stop()
	}
}

// waited is what there is to tell of the wait, once it has ended; false when
// no other session was in the way.
func (w *wait) waited() (views.Waited, bool) {
	if w == nil {
		return views.Waited{}, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return views.Waited{Address: w.address, For: w.foreign, Holders: w.parties}, !w.since.IsZero()
}

// report is the last one, as old as it is by now.
func (w *wait) report() *conflict.Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		return nil
	}
	report := aged(*w.last, time.Since(w.lastAt))
	return &report
}

// aged is a report some time after it was made, as far as it counts time.
func aged(r conflict.Report, by time.Duration) conflict.Report {
	r.Conflicts = slices.Clone(r.Conflicts)
	for i, c := range r.Conflicts {
		if c.Holder != nil && c.Holder.HeldFor > 0 {
			h := *c.Holder
			h.HeldFor += by.Seconds()
			r.Conflicts[i].Holder = &h
		}
	}
	if r.Wait != nil {
		info := *r.Wait
		info.Waited += by.Seconds()
		r.Wait = &info
	}
	return r
}

// admitted shows that a call that had waited goes on.
func (w *wait) admitted(tx admission.TxID) {
	w.stop()
	if told, ok := w.waited(); ok {
		w.gate.view.Admitted(views.Admitted{Address: w.address, Tx: string(tx), Waited: told.For})
		w.gate.ledger.waited(told)
	}
}

// passed notes a wait that ended although something was still in the way.
func (w *wait) passed() {
	w.stop()
	if told, ok := w.waited(); ok {
		w.gate.ledger.waited(told)
	}
}

// abandoned notes a wait that did not end well.
func (w *wait) abandoned() {
	if w == nil {
		return
	}
	w.stop()
	if told, ok := w.waited(); ok {
		told.Refused = true
		w.gate.ledger.waited(told)
	}
}
