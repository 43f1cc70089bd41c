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
// log. Every leader has a socket of its own, named after its epoch and process,
// so that the late end of one never harms its successor. Who leads the journal
// removes the sockets of those before.
//
// # What can go wrong
//
//   - The coordinator is killed: the next call of any run starts another, which
//     knows everything that was acknowledged. Runs notice but by waiting, also
//     those that were just starting or greeting it.
//   - It is stopped by a signal: nobody may take its place, as it would go on
//     deciding once it is continued. A run that comes gets a StartError that
//     names the process.
//   - Its journal is moved away or replaced: it acknowledges nothing more and
//     ends, and the next call starts one that leads what is there.
//   - The disk is full or fails: it acknowledges nothing that is not on the
//     disk, says in its log what to do, and goes on once there is room. Where
//     there is no room at the start there is no start.
//   - The journal is damaged, or a newer version wrote it, or others can use it:
//     a StartError names it and the remedy, and it stays as it is.
//   - The one that runs is of a version that speaks another protocol: a
//     StartError names it. It ends by itself when nobody uses it any more.
//   - The state folder is on a network file system, or may not be written: a
//     StartError says where to go.
//
// Every StartError is one sentence for people; a program that gets one ends with
// the exit code for a set-up that does not allow it to coordinate (78).
package embedded
