// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"errors"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// checkReplay: folding the decisions onto the state before gives the state
// after, and so does reading the state back from a snapshot (I14). A repeated
// command changes nothing (I27), nor does one from the past (I28).
func checkReplay(before, w *world, c admission.Command, events []admission.Event, thorough bool) *Violation {
	hash := w.state.Hash()
	if len(events) > 0 && before.state.Index()+1 == w.state.Index() {
		replica := before.state.Clone()
		if err := replica.Fold(w.state.Index(), w.state.Now(), events); err != nil || replica.Hash() != hash {
			return broken("I14 ReplayEqual", "fold of %T: %v", c, err)
		}
	}
	past := w.state.Clone()
	if _, err := past.Apply(admission.Expire{Stamp: w.tick(-1)}); !errors.Is(err, admission.ErrTimeBack) {
		return broken("I28 TimeMonotone", "the past was accepted: %v", err)
	}
	if repeatable(c, w) {
		if again, err := past.Apply(c); err != nil || len(again) > 0 {
			return broken("I27 SameKeySameAnswer", "%T again: %v %v", c, again, err)
		}
	}
	if past.Hash() != hash {
		return broken("I27 SameKeySameAnswer", "%T again, or an earlier one, changed the state", c)
	}
	if thorough {
		return checkCodec(before, w, c, events)
	}
	return nil
}

// repeatable commands have an answer that is given again.
func repeatable(c admission.Command, w *world) bool {
	switch c := c.(type) {
	case admission.Submit:
		tx, _ := w.state.Tx(c.ID)
		return tx.Status != admission.Stale
	case admission.Start, admission.Complete, admission.Withdraw:
		return true
	case admission.CloseSession:
		_, known := w.state.Session(c.Session) // nothing mentions it: forgotten
		return known
	default:
		return false
	}
}

func checkCodec(before, w *world, c admission.Command, events []admission.Event) *Violation {
	data, err := admission.EncodeRecord(admission.Record{
		Index: w.state.Index(), Now: w.state.Now(), Command: c, Events: events,
	})
	if err != nil {
		return broken("I14 ReplayEqual", "encode: %v", err)
	}
	r, err := admission.DecodeRecord(data)
	if err != nil {
		return broken("I14 ReplayEqual", "decode: %v", err)
	}
	saved, err := before.state.MarshalJSON()
	if err != nil {
		return broken("I14 ReplayEqual", "snapshot: %v", err)
	}
	replica := admission.New()
	if err := replica.UnmarshalJSON(saved); err != nil {
		return broken("I14 ReplayEqual", "read snapshot: %v", err)
	}
	if replica.Hash() != before.state.Hash() {
		return broken("I14 ReplayEqual", "a snapshot is not the state")
	}
	if len(events) == 0 || before.state.Index()+1 != w.state.Index() {
		return nil
	}
	if err := replica.Fold(r.Index, r.Now, r.Events); err != nil || replica.Hash() != w.state.Hash() {
		return broken("I14 ReplayEqual", "fold onto a snapshot: %v", err)
	}
	return nil
}
