// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package simcloud is a simulated cloud with the habits of Azure's network
// service: asynchronous writes that are polled, one writer per virtual network,
// refusals of deletes of what is in use, change tokens on rule sets, throttling,
// and an activity log of every write. Around it stand services with other habits:
// machines under quotas and disks with few slots, policy documents that are
// written whole, a type of which the account takes one write at a time, and
// functions whose permissions rewrite them.
//
// It exists so that conflicts between concurrent Terraform runs can be provoked
// and measured without a cloud account. A [Cloud] is driven over HTTP through
// [Cloud.Handler], or directly through [Cloud.Write] with a [VirtualClock] for
// a deterministic simulation.
//
// # How a write runs
//
//	call -> throttle -> decode -> group, parent -> change token -> in flight?
//	     -> content, references, in use? -> accepted ... latency ... -> ended
//
// Every arrow may refuse the call, and a refused call changes nothing. Which
// operations exclude each other is said in one place, holds.go; which states
// forbid an operation is said in guards.go.
//
// # What is counted
//
// Machines take virtual processors of the quotas of their location and family,
// interfaces take addresses of their subnet, and attachments take shares of their
// disk: from the acceptance of the write that needs them to the end of the one
// that gives them back. A creation that failed keeps what it took until the object
// is deleted. How much is taken is shown with the quota, the subnet and the disk.
//
// # Lives
//
// An object that is deleted and created again under its id has another life: its
// incarnation, a number, and its unique id differ. Every event of the activity log
// says which life it is about, so that a write that met another life than its
// sender had planned for can be told from the log.
//
// # Faults
//
// A [Fault] makes chosen writes lose their request or their answer, wait before
// the cloud looks at them, take longer, or fail after they were accepted.
//
// # Concurrency
//
// One mutex guards the whole cloud; calls are short and never wait. The end of
// an operation is a timer of the [Clock] that takes the same mutex, so the
// activity log has the order in which the cloud decided.
package simcloud
