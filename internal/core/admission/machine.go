// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import "encoding/json"

// Machine is what the shell drives: the role of State towards a coordinator.
// It exists to state the contract in one place; there is one implementation.
//
// The shell calls from one goroutine, gives commands times that never go back,
// and acknowledges a command only when its record was appended. If the append
// fails or its outcome is unknown, the State has run ahead of the journal and
// must be thrown away.
type Machine interface {
	// Apply decides a command; no events mean that nothing changed and nothing
	// is to be journalled.
	Apply(Command) ([]Event, error)
	// Fold replays one record of the journal.
	Fold(index uint64, now int64, events []Event) error
	// Blockers and Place explain a transaction that waits or was refused.
	Blockers(TxID) []Blocker
	Place(TxID) (position, ahead int)
	// Forecast says what Submit would decide now, changing nothing.
	Forecast([]Request) []Prospect
	// NextDeadline is when Expire has something to do at the earliest.
	NextDeadline() (at int64, ok bool)
	// Index, Now and Hash identify the state.
	Index() uint64
	Now() int64
	Hash() [32]byte
	// Snapshots are JSON.
	json.Marshaler
	json.Unmarshaler
}

var _ Machine = (*State)(nil)
