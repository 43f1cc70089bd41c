// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"errors"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// checkReplay: folding the decisions onto the state before gives the state after
// (I14), and so does folding them, encoded and decoded, onto a snapshot where
// codec is set. The past is refused (I28), and a command that has its answer
// changes nothing when it arrives again (I27).
func checkReplay(before *admission.State, n *node, c admission.Command, events []admission.Event, codec bool) *Violation {
	if codec {
		if v := checkCodec(before, n, c, events); v != nil {
			return v
		}
	}
	if err := before.Fold(n.state.Index(), n.state.Now(), events); err != nil || before.Hash() != n.hash {
		return broken("I14 ReplayEqual", "fold of %T: %v", c, err)
	}
	// The replica is as good as the state from here on, and nobody else's.
	if v := checkPast(before); v != nil {
		return v
	}
	if repeatable(c, before) {
		if again, err := before.Apply(c); err != nil || len(again) > 0 {
			return broken("I27 SameKeySameAnswer", "%T again: %v %v", c, again, err)
		}
	}
	if before.Index() != n.state.Index() {
		return broken("I27 SameKeySameAnswer", "%T again, or an earlier one, changed the state", c)
	}
	return nil
}

// checkPast: a command of an earlier time is refused.
func checkPast(s interface {
	Now() int64
	Apply(admission.Command) ([]admission.Event, error)
},
) *Violation {
	past := admission.Expire{Stamp: admission.Stamp{Now: s.Now() - 1}}
	if _, err := s.Apply(past); !errors.Is(err, admission.ErrTimeBack) {
		return broken("I28 TimeMonotone", "the past was accepted: %v", err)
	}
	return nil
}

// repeatable commands have an answer that is given again.
func repeatable(c admission.Command, s *admission.State) bool {
	switch c := c.(type) {
	case admission.Submit:
		tx, _ := s.Tx(c.ID)
		return tx.Status != admission.Stale
	case admission.Start:
		return true
	case admission.Complete:
		_, known := s.Tx(c.Tx) // else it was forgotten with its session
		return known
	case admission.Withdraw:
		_, known := s.Tx(c.Tx)
		return known
	case admission.CloseSession:
		_, known := s.Session(c.Session)
		return known
	default:
		return false
	}
}

func checkCodec(before *admission.State, n *node, c admission.Command, events []admission.Event) *Violation {
	data, err := admission.EncodeRecord(admission.Record{
		Index: n.state.Index(), Now: n.state.Now(), Command: c, Events: events,
	})
	if err != nil {
		return broken("I14 ReplayEqual", "encode: %v", err)
	}
	r, err := admission.DecodeRecord(data)
	if err != nil {
		return broken("I14 ReplayEqual", "decode: %v", err)
	}
	saved, err := before.MarshalJSON()
	if err != nil {
		return broken("I14 ReplayEqual", "snapshot: %v", err)
	}
	replica := admission.New()
	if err := replica.UnmarshalJSON(saved); err != nil {
		return broken("I14 ReplayEqual", "read snapshot: %v", err)
	}
	if replica.Hash() != before.Hash() {
		return broken("I14 ReplayEqual", "a snapshot is not the state")
	}
	if err := replica.Fold(r.Index, r.Now, r.Events); err != nil || replica.Hash() != n.hash {
		return broken("I14 ReplayEqual", "fold onto a snapshot: %v", err)
	}
	return checkSameDecision(saved, c, n)
}

// checkSameDecision: what was read from a snapshot decides as the state does.
func checkSameDecision(saved []byte, c admission.Command, n *node) *Violation {
	replica := admission.New()
	if err := replica.UnmarshalJSON(saved); err != nil {
		return broken("I14 ReplayEqual", "read snapshot: %v", err)
	}
	if _, err := replica.Apply(c); err != nil || replica.Hash() != n.hash {
		return broken("I14 ReplayEqual", "a machine read from a snapshot decides %T differently: %v", c, err)
	}
	return nil
}
