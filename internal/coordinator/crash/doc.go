// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package crash tests what is left of a coordinator that ends at any moment. It
// has tests only.
//
// # Storage
//
// A process of its own plays a whole life of a journal: its creation, leading,
// appends of one record and of many, records that let the file grow, snapshots
// of several chunks, trimming, an orderly end, a take-over, and an append whose
// outcome is not known with the leadership after it. It is traced: every system
// call by which it changes anything in the folder of the journal, or makes it
// durable, or takes or lets go of a lock, is a step, with what was written. So the
// matrix is complete by construction: whatever the journal, bbolt or the
// standard library do is a step, and a way to write that the tracer does not know
// fails the test.
//
// For each step, the folder is built as a crash right before it leaves it: with
// nothing that was not synchronised, with all of it (what the kernel keeps when a
// process is killed), and with parts of it (a power cut: any sectors of what was
// written, a beginning of what was done to names). Each is opened by a new
// coordinator and judged: see judge.
//
// Beside that, a process is killed by signal 9 right before each step of a
// shorter life.
//
// # Calls
//
// The same is done between any two calls of the coordinator to its journal, with
// the journal in memory: before and after each Lead, Append, SaveSnapshot and so
// on. See TestBetweenCalls.
//
// CRASH_ROUNDS says how many power cuts there are at each step, CRASH_SEED what
// is left by them, and CRASH_ALL=1 has a process killed at each step of the long
// life, too.
package crash
