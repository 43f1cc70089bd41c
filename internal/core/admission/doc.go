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
// # Order
//
// Every command that may let somebody go on ends with one pass over the queue
// in the order of the tickets. Starting a call and losing its answer let nobody
// go on: neither frees a lock, and whether a promised object is there does not
// depend on them.
package admission
