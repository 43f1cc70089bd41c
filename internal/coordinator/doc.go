// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package coordinator is the shell round the protocol of internal/core: it
// gives commands a time and an order, journals each decision before anybody
// hears of it, wakes whoever became able to run, and ends leases.
//
// One goroutine owns one journal and the state behind it. Commands that arrive
// while a batch is being written form the next batch (group commit). A reply
// leaves only after Append returned; when the outcome of an Append is not
// known, the coordinator steps down and leads again.
//
// Sub-packages: server is the gRPC face, client is the only way products reach
// a coordinator, embedded finds or starts the one of this user and machine.
package coordinator
