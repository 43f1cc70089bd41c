// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package killing ends processes with kill -9 at random moments and finds out
// what that breaks.
//
// A [Round] is one experiment: three sessions work on two networks, two of them
// on the same one; at a moment drawn from the seed one process is killed: a
// wrapper, a provider, a CLI, the process that serves the embedded coordinator,
// or a daemon. Two more sessions start right then: a bystander, which needs
// nothing that anybody else has, and a rival, which needs the network that the
// killed one was at.
//
// A round is judged by what the cloud logged, by the journal, by the states of
// the workspaces and by the processes and sockets that are left, never by what
// the programs say of themselves. See [Findings].
package killing
