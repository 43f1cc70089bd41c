// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package main

import "time"

// processor is the processor time of this process, which is not known here.
func processor() time.Duration { return 0 }
