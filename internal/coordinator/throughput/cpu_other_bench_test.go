// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package throughput_test

import "time"

// processorTime is not known here.
func processorTime() time.Duration { return 0 }
