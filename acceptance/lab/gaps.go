// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"cmp"
	"slices"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// Gaps are the times between the end of one operation and the start of the
// next, of operations that follow one another. A negative gap is an overlap.
func Gaps(operations []activity.Operation) []time.Duration {
	ordered := slices.SortedFunc(slices.Values(operations), func(a, b activity.Operation) int { return a.Start.Compare(b.Start) })
	var gaps []time.Duration
	for n := 1; n < len(ordered); n++ {
		gaps = append(gaps, ordered[n].Start.Sub(ordered[n-1].End))
	}
	return gaps
}

// Percentile is the smallest of the values that at least share of all (0 to 1)
// do not exceed; zero for no values.
func Percentile[T cmp.Ordered](values []T, share float64) T {
	var zero T
	if len(values) == 0 {
		return zero
	}
	sorted := slices.Sorted(slices.Values(values))
	n := int(share * float64(len(sorted)))
	if float64(n) == share*float64(len(sorted)) {
		n--
	}
	return sorted[min(max(n, 0), len(sorted)-1)]
}
