// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package explore searches the state space of the coordination protocol: it
// drives the machine that ships through all interleavings of small
// configurations, and judges every state by what the cloud would see.
//
// # Two levels
//
// A world is a state of the core and everything around it: what each client
// believes, which requests, answers and calls are on their way, what the journal
// has of the leader's last decision, and what is true in the cloud. The states of
// the core are interned by their fingerprint ([core]); the real core executes
// each command on each of them once, and everything that can be judged by the
// state and the decision alone is judged there, without sampling: what is held
// (I1, I3, I4), sums and limits (I5, I7), tokens (I10), wake-ups (I13), replay
// (I14), attribution (I17), cycles of waits (I22), repetition (I27), time (I28),
// views (I16), and what every command does to a transaction in every status. A
// step between worlds is then a look-up and a hash, so that clients, messages and
// calls can be modelled as finely as they are.
//
// # What is judged by the cloud
//
// The judge does not know lock modes. For each operation a table says which
// objects and aspects of the cloud it reads and writes ([Op]), and the world says
// what exists, who refers to whom, what is in use and whose call is in flight.
// From those two come the rest: overlaps (I2, I19), limits (I5, I6), calls
// without locks (I8), calls before their Start is in the journal (I9), the queue
// (I11), progress (I12), deposed leaders (I15), fates (I18), plans out of date
// (I20), intents (I21), reservations (I23, I26), what is known (I24), and calls
// that take effect after they were settled (I25). See truth.go and report.go.
//
// Progress needs no look ahead. The steps that are sure to happen if nothing else
// does ([move.productive]) bring their subject further and are never undone, so
// there is no endless history of them alone; and every history that they lead to
// is explored as well. If somebody could wait for ever, there is a world in which
// none of those steps is left and somebody waits, and that is what is checked.
//
// # Mishaps
//
// Each history has a bounded number of them: answers that are lost, calls that
// fail or leave halves, processes that die, leases that end, runs that give up,
// leaders that crash or are deposed, requests that arrive twice, people who
// override decisions.
//
// A finding is shortened as far as it still breaks the same invariant, and prints
// a script in the words of the stories of package admission.
//
// The package is test code that happens to need several files, and a command:
// nothing else imports it.
package explore
