// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package admission is the semantic transaction layer (CloudWeaver, section
// 4.2): one deterministic state machine that decides which provider call may
// run now, which waits for whom, and which must be refused.
//
// A [State] changes only by [State.Apply], which decides a [Command] and
// returns the decisions as [Event]s. The decisions are what is journalled with
// the command; [State.Fold] replays them, so that a newer program cannot
// decide differently about the past.
//
// # Life of a transaction
//
//	Submit ──► Queued ──► Admitted ──Start──► Actioning ──► Operational | Failed
//	   │          │           │                   └───────► Uncertain ──Resolve──► Operational | Failed
//	   ├► Rejected│           └► Withdrawn
//	   └► Stale ◄─┴► Withdrawn, Rejected
//
// A queued transaction holds nothing. Admission takes all locks in one step.
// Nothing is granted over an earlier waiter that it conflicts with. A lock
// whose call may still be running is never freed by a timer.
//
// # Guards
//
// A transaction whose guard [Present] names an object that another live
// session has declared and not yet made waits without standing in anybody's
// way ("dormant"): it holds its ticket, but is not an earlier waiter to others
// until the object is there. Otherwise the very call it waits for would queue
// behind it. The promise of its own session never stops a transaction, also
// where another session promised the same; and promises that would wait for
// each other in a ring are refused to the one who closes the ring.
//
// # Plans and claims
//
// An approved plan is reserved by one transaction of its own, with [Reserve] and
// all its calls: their order, what they do to capacity, and which are one intent.
// It waits in the queue like any other and holds capacity only. Its calls stand
// in the queue at its ticket; they may wait for locks, and never for capacity.
//
// The first call of an intent is admitted together with a claim: all locks that
// the other calls of the intent, and everything unfinished that the plan orders
// before them, will need towards other runs. Inside it, a call waits for calls of
// its own run and for nothing else; what was not foreseen is given at once or
// refused. A call that must not be sent any more, because one that belongs with
// it has failed, is refused or taken back, and what was reserved for it returned.
//
// # Settlement and passing
//
// What a read of the cloud proves about a call whose outcome is not known is in
// settle.go. Who passes a decision ([Pass], or [Request.Advisory]) goes on
// without locks: nobody else's guarantees change, and it is on record.
//
// # Order
//
// Every command that may let somebody go on ends with one pass over the queue
// in the order of the tickets; a claim that begins or ends, and an intent that
// has become impossible, concern earlier waiters too and make it two. Starting a
// call lets nobody go on. Losing its answer frees no lock either, and whether a
// promised object is there does not depend on it; what it gives back is capacity
// of calls that the run will not send now.
package admission
