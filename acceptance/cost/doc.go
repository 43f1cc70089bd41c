// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command cost measures what tfweaver costs beside the CLI alone: the processor
// time of the whole tree of processes, its own memory, and how soon something is
// seen. The two are run alternately on equal work, and medians are compared; the
// ratio is what counts, since absolute figures depend on the machine. Run it on a
// machine that does nothing else.
package main
