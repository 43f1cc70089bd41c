// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
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
	since  time.Time // of the first wait behind another session
	timer  *time.Ticker
	done   chan struct{}
	ended  bool
	behind string
}

func newWait(g *Gatekeeper, address string, p *patience) *wait {
	return &wait{gate: g, address: address, patience: p, done: make(chan struct{})}
}

// show takes what the coordinator says about the wait.
func (w *wait) show(news client.Waiting) {
	w.patience.run(news.Foreign)
	w.mu.Lock()
	defer w.mu.Unlock()
	report := w.gate.documented(news.Report)
	w.last = &report
	if !news.Foreign || w.ended {
		return
	}
	before := w.behind
	w.behind = views.Holders(report)
	switch {
	case w.timer != nil && w.behind != before:
		w.gate.view.Waiting(views.Waiting{Address: w.address, Report: report, Waited: time.Since(w.since)})
	case w.timer == nil:
		w.since = time.Now()
		w.timer = time.NewTicker(w.gate.repeat)
		w.gate.view.Waiting(views.Waiting{Address: w.address, Report: report})
		go w.remind(w.timer.C)
	}
}

func (w *wait) remind(tick <-chan time.Time) {
	for {
		select {
		case <-tick:
			w.mu.Lock()
			if !w.ended {
				w.gate.view.Waiting(views.Waiting{Address: w.address, Report: *w.last, Waited: time.Since(w.since)})
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
	close(w.done)
	if w.timer != nil {
		w.timer.Stop()
	}
}

// waited is for how long the call was behind other sessions.
func (w *wait) waited() (time.Duration, bool) {
	if w == nil {
		return 0, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() {
		return 0, false
	}
	return time.Since(w.since), true
}

func (w *wait) report() *conflict.Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// admitted shows that a call that had waited goes on.
func (w *wait) admitted(tx admission.TxID) {
	w.stop()
	if d, ok := w.waited(); ok {
		w.gate.view.Admitted(views.Admitted{Address: w.address, Tx: string(tx), Waited: d})
		w.gate.ledger.waited(views.Waited{Address: w.address, For: d, Holder: w.behind})
	}
}

// abandoned notes a wait that did not end well.
func (w *wait) abandoned() {
	if d, ok := w.waited(); ok {
		w.gate.ledger.waited(views.Waited{Address: w.address, For: d, Holder: w.behind, Refused: true})
	}
}
