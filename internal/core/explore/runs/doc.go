// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package runs searches the state space of whole Terraform runs: partial orders
// of calls with replaces, capacity and a reservation, sent as the CLI sends
// them, with failures, lost answers and deaths in between. It drives the machine
// that ships, and judges it by what the calls do to a simulated cloud.
//
// What is checked: no two calls that touch each other overlap (I2); nobody gets
// in between the calls of one intent, and none stays half done by a decision of
// the coordinator (I21); what is in use never exceeds a limit (I5), and the
// bounds on it hold (I6); what a plan has reserved is its own (I23, I26); a read
// that proves nothing settles nothing (I18, I25); every wait ends (I12, I22); no
// wake-up is lost (I13); replay gives the same state (I14), also where the
// machine is read from its snapshot every few steps; what claims and calls hold
// is compatible (I1), and who waits is told for whom (I17).
//
// Some runs go on whatever is in their way, in the mode that only watches: what
// they do to themselves is not judged, and nor are objects that they wrote
// without holding them; everything else has to stay true.
package runs
