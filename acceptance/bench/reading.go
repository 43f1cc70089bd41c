// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"encoding/json"
	"math"
)

// reading is a figure as it was measured. The zero value is one that was not
// measured, which is another thing than 0: nothing meets a bar with it.
type reading struct {
	value float64
	known bool
}

// is a figure that was measured. What came of a division by nothing was not.
func is(v float64) reading {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return reading{}
	}
	return reading{v, true}
}

// positive is a figure that cannot be 0, as a time or a ratio of times: 0 means
// that nobody measured it.
func positive(v float64) reading {
	if v <= 0 {
		return reading{}
	}
	return is(v)
}

// UnmarshalJSON implements json.Unmarshaler. A member that is missing, or null,
// leaves the reading unknown.
func (r *reading) UnmarshalJSON(text []byte) error {
	var v *float64
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	if *r = (reading{}); v != nil {
		*r = is(*v)
	}
	return nil
}
