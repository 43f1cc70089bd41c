// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package interleaving lets a plain Terraform slip in between the two steps of a
// coordinated apply on the same state: it is started at a random moment of it.
//
// A native apply holds the lock of the state from before its plan to its end. An
// apply in two steps gives it up in between, and when somebody has written the
// state meanwhile, the CLI turns the saved plan down as stale. tfweaver plans
// again then. So whoever uses it must never see that error at the end of a run;
// what both runs have done must be in the state; and afterwards there must be
// nothing left to do.
//
// Rounds differ in the moment, in what the plain Terraform does, in where the
// state lies (a file, or a server of the http backend), and in whether the run is
// approved by itself or by somebody who answers yes whenever asked. The control
// does the same two steps with the CLI alone.
package interleaving
