// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package admission

import "time"

// cpuTime is not known here; the clock has to do.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
