// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package liveness finds out whether the processes of a session are dead.
//
// A call whose outcome is not known may still land while somebody is left to
// send it: the wrapper, or a provider plugin that outlived it. Only the machine
// on which they run can tell, and it tells surely: a process is known by its
// number together with the time of its start and the boot of the machine, so
// that a number that was given away again does not count as life. Whatever
// cannot be told, such as a process of another machine or of a container with
// numbers of its own, is unknown for ever and never dead.
//
// What is known of the processes is kept in a file beside the journal, and not
// in it: it means nothing on another machine, and nothing after a boot but
// that all are dead.
package liveness
