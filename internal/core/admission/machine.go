// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

// The methods that the shell and the reports rely on. Implemented over the
// files of this package:
//
//	New() *State
//	(*State) Apply(Command) ([]Event, error)   decides and folds
//	(*State) Fold(index uint64, now int64, events []Event) error   replays one record
//	(*State) Clone() *State
//	(*State) Hash() [32]byte                   of the canonical form
//	(*State) MarshalJSON / UnmarshalJSON       snapshot
//	(*State) Index() uint64, Now() int64       of the last record
//	(*State) Session(id), Intent(id), Tx(id)   (value, bool)
//	(*State) Sessions(), Transactions()        sorted slices (copies)
//	(*State) Graph() *graph.Graph              read-only by convention
//	(*State) Blockers(id TxID) []Blocker       as of now
//	(*State) Place(id TxID) (position, ahead int)   1-based place among the conflicting waiters; dormant ones included
//	(*State) Forecast([]Request) []Prospect    what Submit would decide now, changing nothing
//	(*State) NextDeadline() (int64, bool)      earliest lease end
//	EncodeRecord(Record) / DecodeRecord([]byte)     Record{Index, Now, Command, Events}
