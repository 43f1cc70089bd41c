// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package validation

import (
	"errors"
	"fmt"
)

// The names of the policies.
const (
	Serial        = "serial"
	Uncoordinated = "uncoordinated"
	Coordinated   = "coordinated"
)

// operations is how many operations the workload has.
const operations = 6

// CheckShape is an error unless the result is what the paper found: everybody
// succeeds one after another, one operation is refused without coordination,
// none with it, and coordination is faster than one after another.
func CheckShape(r Result) error {
	found := make(map[string]Figure)
	for _, f := range r.Policies {
		found[f.Name] = f
	}
	serial, uncoordinated, coordinated := found[Serial], found[Uncoordinated], found[Coordinated]
	return errors.Join(
		expect(serial.OK == operations && serial.RefusedAtCloud == 0, "serial", "all succeed and none is refused", serial),
		expect(uncoordinated.OK == operations-1 && uncoordinated.RefusedAtCloud > 0, "uncoordinated", "one is refused and lost", uncoordinated),
		expect(coordinated.OK == operations && coordinated.RefusedAtCloud == 0, "coordinated", "all succeed and none is refused", coordinated),
		expect(coordinated.MakespanS < serial.MakespanS, "coordinated", "it takes less time than serial", coordinated),
	)
}

func expect(holds bool, policy, what string, f Figure) error {
	if holds {
		return nil
	}
	return fmt.Errorf("%s: expected that %s; found %d of %d succeeded, %d refused, makespan %.3f s",
		policy, what, f.OK, f.Total, f.RefusedAtCloud, f.MakespanS)
}

// Policies are the names of the policies in the order in which they run.
func Policies() []string {
	var all []string
	for _, p := range policies() {
		all = append(all, p.name)
	}
	return all
}
