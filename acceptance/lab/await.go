// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"fmt"
	"time"
)

// pollPeriod is how often a condition is looked at; it is short because some
// conditions open a window of a second.
const pollPeriod = 10 * time.Millisecond

// Await waits until a condition holds. It fails with what was awaited when ctx
// ends first, or with the condition's own error.
func Await(ctx context.Context, what string, holds func() (bool, error)) error {
	return awaitEvery(ctx, pollPeriod, what, holds)
}

func awaitEvery(ctx context.Context, period time.Duration, what string, holds func() (bool, error)) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		ok, err := holds()
		if err != nil {
			return fmt.Errorf("waiting until %s: %w", what, err)
		}
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, ctx.Err())
		case <-ticker.C:
		}
	}
}
