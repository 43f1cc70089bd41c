// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package scratch makes the private folders that a run keeps its temporary
// files in, and removes those that killed runs left behind.
//
// Temporary files are not harmless: a plan file holds every value in clear. A
// kill -9 leaves no time to remove them, so the next run does. Whether the owner
// of a folder is dead is not concluded from a process number, which is given
// again and means nothing in another container: the owner holds on to the
// folder in a way that the kernel ends with the process, however it ends. Nobody
// can take what a living process holds, a stopped one included.
package scratch
