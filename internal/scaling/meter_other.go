// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package scaling

import "time"

// processor is the time of a clock, where the processor time of a thread is not
// to be had.
func processor() time.Duration { return time.Duration(time.Now().UnixNano()) }
