// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package embedded finds or starts the coordinator of this user and machine,
// so that several runs coordinate with nothing started by hand.
//
// The first process that needs a coordinator starts a detached one, which ends
// by itself when nobody is there any more and nothing is held: it stays while a
// call with an unknown outcome keeps its locks. It is no part of a run: a run may be
// stopped at a prompt, or killed, without holding anybody up.
//
// The state folder holds the journal, whose lock is the leadership; a file
// named "current" that says where the leader listens; a lock file that keeps
// many processes from starting a coordinator at once; and the coordinator's
// log. Every leader has a socket of its own, so that the late end of one never
// harms its successor.
package embedded
