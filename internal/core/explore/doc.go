// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package explore searches the state space of the coordination protocol: it
// drives the machine that ships through all interleavings of small
// configurations, and judges every state by what the cloud would see.
//
// The judge does not know lock modes. For each operation a table says which
// objects and aspects of the cloud it reads and writes ([Op]), and a simulated
// [cloud] says what exists, who refers to whom and who changed what. From those
// two the invariants of the protocol are checked after every step: check.go
// judges steps, standing.go states, replay.go the journal.
//
// The package is test code that happens to need several files: nothing outside
// tests imports it.
package explore
