// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"iter"
	"time"
)

// looks are the pauses between two looks at something that others change.
func looks() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for pause := firstLook; yield(pause); pause = min(2*pause, lastLook) {
		}
	}
}

// sleep pauses; it is false when ctx ended before the pause did.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
