// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package history tests that the coordinator's API is linearizable. It has
// tests only.
//
// Several clients submit, start, complete and withdraw calls, open, renew and
// close sessions, let leases lapse, settle, observe and ask, all at once and
// over the real API on a Unix socket, while the coordinator is restarted again
// and again: in good order, and by crashes in the middle of an append, which may
// have been written or not. Answers get lost on the way, are asked for again
// under the same key, and contexts end early.
//
// Every answer is noted with the moments of its question and its arrival.
// Porcupine then looks for an order of the operations in which a small
// sequential model, which shares nothing with the state machine, would have
// given the same answers. The model knows what a call touches and who may hold
// that together with whom, the order of the queue, what a key was answered
// before, and that tokens grow. An operation whose answer was lost may take
// effect until the coordinator that it may have reached is known to be dead. The
// trees of nodes are independent of one another, and each session works in one of
// them, so each tree is judged by itself.
//
// HISTORY_SEEDS says how many histories of each kind are judged, HISTORY_SEED
// with which number they begin, and HISTORY_STEPS how many steps each client
// takes.
package history
