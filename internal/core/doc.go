// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package core and the packages below it are the coordination protocol: one
// deterministic state machine without a clock, a goroutine, I/O or randomness.
// Time and identifiers come in with each command. That is what lets the code
// that ships be explored exhaustively, replayed from a journal and simulated.
//
// The packages depend on each other in one direction:
//
//	cow, mode <- graph, lock, escrow <- admission <- conflict
package core
