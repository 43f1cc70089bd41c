// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package scaling measures how the time that many concurrent sessions need grows
// with their number: 1 to 1,000 Terraform-like runs against the simulated cloud in
// virtual time, one event after another, with the coordinator's real state machine
// and lock plans from the real rule pack. Nothing waits for the machine it runs on,
// so that one seed gives one result.
//
// # What is compared
//
// A [Workload] is a number of sessions with the order in which Terraform sends
// their calls. A [Strategy] is how they get along: one after another, all at once
// with retries, one lock for each resource group, or under the coordinator.
//
// # What it is held against
//
// [LongestPath] is the time that Terraform's edges, its -parallelism and, between
// two calls that exclude each other in the cloud, the order of their tickets allow.
// It is computed from what calls really touch ([Touches]) and how long they really
// took; lock plans have no part in it. [LowerBound] is what no order can beat, and
// [Optimal] the best order of a small case.
//
// # What is left out
//
// Decisions take no virtual time, and neither do the start of the CLI, plans,
// refreshes and polls: what those cost is measured with real processes elsewhere.
package scaling
