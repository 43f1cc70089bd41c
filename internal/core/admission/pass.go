// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
)

// passOn lets a transaction go on whatever stands in its way. It holds nothing:
// the others' guarantees stay as they are, and what happens is on record.
func (d *decision) passOn(c Pass) error {
	e, err := d.tx(c.Tx)
	if err != nil {
		return err
	}
	if !d.alive(e.Session, d.at) {
		return fmt.Errorf("session %s: %w", e.Session, ErrNoSession)
	}
	switch c.Mode {
	case "wait", "offline":
	case "override":
		if c.By == "" || c.Reason == "" {
			return fmt.Errorf("%w: to override a decision about %s needs a name and a reason", ErrMalformed, c.Tx)
		}
	default:
		return fmt.Errorf("%w: passing in mode %q", ErrMalformed, c.Mode)
	}
	switch {
	case e.Passed != nil && !e.Status.Final():
		return nil // said twice
	case e.slim:
		return e.wrongStatus()
	case e.Status == Queued:
		d.pass(e, c, d.blockers(e, nil))
	case e.Status == Rejected, e.Status == Stale:
		d.pass(e, c, e.Blockers)
	default:
		return e.wrongStatus()
	}
	d.drain()
	return nil
}

func (d *decision) pass(e *entry, c Pass, why []Blocker) {
	c.Stamp = Stamp{Now: d.at}
	d.emit(TxPassed{Tx: e.ID, Token: d.token + 1, At: d.at, Pass: c, Blockers: limit(why)})
}

func (s *State) foldPassed(x *entry, e TxPassed) error {
	if x.Status.Final() {
		s.unretire(x.ID)
		x.EndedAt = 0
	}
	if err := s.admitted(x, e.Token, e.At); err != nil {
		return err
	}
	pass := e.Pass
	x.Passed, x.Blockers = &pass, e.Blockers
	if s.inReservation(&x.Tx) {
		// What was reserved for it stays its own; what is missing is missing.
		_ = s.escrow.Extend(escrow.Owner(x.Plan), x.Call, x.Effects)
	}
	return nil
}
