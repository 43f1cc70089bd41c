// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"slices"

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
	case e.Plan != "" && d.ongoing.Get(e.planned()) != "" && e.Status.Final():
		return fmt.Errorf("call %q of plan %s, as %s: %w", e.Call, e.Plan, d.ongoing.Get(e.planned()), ErrDuplicate)
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
		if x.Plan != "" {
			s.ongoing.Set(&s.owner, x.planned(), x.ID)
		}
		s.revive(&x.Tx)
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

// revive takes back what the refusal of a planned call meant for others: they
// are dead only if another one has failed.
func (s *State) revive(tx *Tx) {
	p, i := s.planOf(tx)
	if p == nil || p.phases[i] != dead {
		return
	}
	c := *p
	c.phases = slices.Clone(p.phases)
	for j, f := range c.phases {
		if f == dead {
			c.phases[j] = pending
		}
	}
	for _, e := range s.txs.All {
		if j := c.find(e.Call); e.Plan == tx.Plan && e.ID != tx.ID && e.failed() && c.phases[j] == pending {
			c.phases[j] = dead
		}
	}
	for _, e := range s.txs.All {
		if e.Plan == tx.Plan && e.ID != tx.ID && (e.failed() || e.Status == Uncertain) {
			c.spread(c.find(e.Call))
		}
	}
	s.plans.Set(&s.owner, tx.Plan, &c)
}

// failed says whether a transaction has ended without success.
func (t *Tx) failed() bool {
	return t.Status == Failed || t.Status == Rejected || t.Status == Withdrawn
}
