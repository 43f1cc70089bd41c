// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"testing"
)

func TestTry(t *testing.T) {
	s := newSearch()
	cov := newCoverage(100)
	var total Stats
	for _, c := range Scenarios() {
		st, err := s.explore(c, 200_000, cov, 64)
		t.Logf("%s %+v", c.Name, st)
		if err != nil { t.Errorf("%v", err); continue }
		total.Add(st)
	}
	t.Logf("%+v", total)
	for c := range Runs(0, 30) {
		st, err := s.explore(c, 100_000, cov, 64)
		t.Logf("%s %+v", c.Name, st)
		if err != nil { t.Errorf("%v", err); continue }
		total.Add(st)
	}
	t.Logf("%+v", total)
	t.Log(cov.missing())
}
