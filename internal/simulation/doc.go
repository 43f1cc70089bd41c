// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package simulation runs the whole of coordination in one goroutine and in
// virtual time, with everything going wrong that can: the real state machine
// (package admission), a real journal, the real rules of the simulated cloud and
// that cloud itself, between them a network, processes and machines that fail.
//
// Everything is drawn from one seed. [Run] of the same seed gives the same event
// log, byte for byte, so a seed that fails is a test.
//
// # What is real
//
// The state machine, its records and snapshots, the journals memjournal and
// bboltjournal, the rule engine with the pack of the simulated cloud, and the
// cloud. What drives them is written here anew, in the steps of package
// coordinator (server.go, lead.go) and of the wrapper (session.go, call.go,
// plugin.go), because goroutines and timers of the real ones are scheduled by
// nobody's seed.
//
// # Who judges
//
// Nothing here asks the state machine whether it was right. The cloud says when
// two calls collide, when a quota is exceeded and when something is still in use,
// and its activity log says what was done to which life of an object; a ledger of
// what is durable (ledger.go) says what may be answered. See judge.go.
//
// # What is assumed
//
// The environment keeps what the protocol asks of it, and no more: a request that
// left a process lands within the time that the rules give (lands), a plugin goes
// on for less than its provider's time-out, a provider looks before it creates
// again what it did not get an answer for, and no clock jumps by so much that
// these two would be over before they are.
package simulation
