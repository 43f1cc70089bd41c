// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

func TestGapsAreInOrderOfStarts(t *testing.T) {
	t.Parallel()
	zero := time.Unix(0, 0)
	op := func(from, to int) activity.Operation {
		return activity.Operation{Start: zero.Add(time.Duration(from)), End: zero.Add(time.Duration(to))}
	}
	got := Gaps([]activity.Operation{op(0, 10), op(25, 40), op(12, 30)})
	if diff := cmp.Diff([]time.Duration{2, -5}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	values := []int{5, 1, 4, 2, 3, 6, 7, 8, 9, 10}
	for share, want := range map[float64]int{0: 1, 0.1: 1, 0.5: 5, 0.51: 6, 0.95: 10, 1: 10} {
		if got := Percentile(values, share); got != want {
			t.Errorf("percentile %v is %d, want %d", share, got, want)
		}
	}
	if got := Percentile([]int(nil), 0.5); got != 0 {
		t.Errorf("percentile of nothing is %d", got)
	}
}
