// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package view projects the global state for one session (CloudWeaver, sections
// 3.2 and 4.1): what a session may see of it, under names of its own.
//
// A [Policy] says what is shown to whom. A [Lens] is a policy applied to one
// session; it decides about nodes, other sessions and capacity, and makes a
// [Projection] of a state. [Locals] is what a session remembers: the local ids
// and versions under which things were shown to it. With both, a projection
// becomes a [View], a conflict report becomes one that may be shown, and what
// the session asks for under local ids resolves to what it is about.
//
// # Confinement
//
// If the session's own calls were decided alike (granted, delayed, refused, by
// class, on the nodes and behind the sessions that it sees), and as much capacity
// is left to it, then all that this package shows is the same to the byte,
// whatever else is hidden. What hidden sessions do to a visible object is not
// hidden; who they are is.
// Therefore nothing here is made to depend on whether anything hidden exists:
//
//   - Whoever is hidden has one alias, the same for all. Two aliases would tell
//     that there are two.
//   - Of what hidden sessions hold, only the lock on a visible object that
//     their call is about is shown, as one lock however many hold it. What they
//     hold there for the sake of hidden objects is not.
//   - Of all hidden reasons for one decision of one class on one node, one is
//     told, and none where a visible one explains the decision as well.
//   - Versions count what was shown to change, and fencing tokens are numbered
//     for each session.
//   - The place in the queue, and how full a bucket is, are left out for every
//     confined session, also where nobody hidden contributes: to leave them out
//     only then would tell just that.
//
// What remains: time (when a decision falls, and how long it takes); that a report
// keeps at most [admission.MaxBlockers] reasons, so that so many hidden ones can
// crowd out a visible one; that final transactions are forgotten when many
// others have ended since; and the provider's own messages.
package view
