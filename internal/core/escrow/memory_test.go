// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import "testing"

// TestMemoryToTheMoment: a read is taken over if all that ended since it began is
// still remembered, and then all of that may be missing in it. It is ignored if
// the memory was cut of anything that it cannot have seen, to the very index.
func TestMemoryToTheMoment(t *testing.T) {
	t.Parallel()
	const first, apart = 10, 3
	for _, known := range []bool{true, false} {
		for n := history - 1; n <= history+2; n++ {
			full := bucket{known: known}
			for i := range n {
				full.land(1, true, uint64(first+apart*i))
				full.land(1, true, uint64(first+apart*i)) // remembered as one with the other
			}
			for began := range uint64(first + apart*(n+1)) {
				missing, forgotten := int64(0), false
				for i := range n {
					if at := uint64(first + apart*i); at > began {
						missing, forgotten = missing+2, forgotten || i < n-history
					}
				}
				b := full
				taken := b.observe(Observation{Use: 7, Began: began, At: uint64(first + apart*n)})
				if taken == forgotten {
					t.Errorf("%d ended, read from %d on: taken %t, memory cut %t", n, began, taken, forgotten)
				}
				if taken && (b.low != 7 || b.high != 7+missing) {
					t.Errorf("%d ended, read from %d on: %d to %d, missing %d", n, began, b.low, b.high, missing)
				}
			}
		}
	}
}
