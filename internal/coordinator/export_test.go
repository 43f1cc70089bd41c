// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

// Queued is how many commands wait for the goroutine that owns the state.
func Queued(c *Coordinator) int { return len(c.ops) }
