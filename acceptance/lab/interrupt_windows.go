// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import "os"

// interrupt ends a process: Windows cannot ask one that has no console of ours.
func interrupt(p *os.Process) error { return p.Kill() }
