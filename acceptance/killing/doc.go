// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package killing ends processes with kill -9, and sends signals to runs, at random
// moments, and finds out what that breaks.
//
// A [Round] is one experiment: three sessions work on two networks, two of them
// on the same one; at a moment drawn from the seed one of them is hit, see [Kind]
// and [Moment]: by a kill -9 of its wrapper, of a provider, of its CLI, of the process
// that serves the embedded coordinator, or of a daemon; by a signal to its wrapper
// alone; or by what a person does at its terminal. Two more sessions start right
// then: a bystander, which needs nothing that anybody else has, and a rival, which
// needs the network that the victim was at. In the end plain Terraform goes on with
// what the victim has left.
//
// A round is judged by what the cloud logged, by the journal, by the states of
// the workspaces and by the processes and sockets that are left, never by what
// the programs say of themselves. See [Findings].
package killing
