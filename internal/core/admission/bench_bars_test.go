// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"strings"
	"testing"
)

// bar is a figure beside what it has to be. One that is missing was not measured,
// and its bar is not met.
type bar struct {
	Figure   string `json:"figure"`
	Bar      string `json:"bar"`
	Measured string `json:"measured"`
	Met      bool   `json:"met"`
	Missing  bool   `json:"missing,omitempty"`
}

// judge compares the largest cloud with what has to be reached.
func (r *scaleReport) judge() {
	var last storageRow
	if len(r.Storage) > 0 {
		last = r.Storage[len(r.Storage)-1]
	}
	add := func(figure, limit string, known bool, measured string, met bool) {
		x := bar{Figure: fmt.Sprintf("%s, %d nodes", figure, last.Nodes), Bar: limit, Measured: measured, Met: met && known, Missing: !known}
		if x.Missing {
			x.Measured = "not measured"
		}
		r.Bars = append(r.Bars, x)
	}
	slowest := r.slowest(last.Nodes)
	add("whole admission of a six-lock plan at most", "<= 15 us of processor time", slowest.WholeNanoseconds > 0,
		fmt.Sprintf("%.1f us beside %d holders", slowest.WholeNanoseconds/1e3, slowest.HeldByOthers), slowest.WholeNanoseconds <= 15e3)
	touched := r.touched()
	add("nodes touched by an admission, the same from 1,000 nodes up to", "1 number", slowest.NodesTouched > 0, fmt.Sprint(touched), touched == 1)
	add("heap in use", "<= 1 GiB", last.HeapBytes > 0, mib(last.HeapBytes), last.HeapBytes <= 1<<30)
	add("resident", "<= 1 GiB", last.ResidentBytes > 0, mib(last.ResidentBytes), last.ResidentBytes <= 1<<30)
	add("recovery from a snapshot", "<= 10 s", last.ReadSeconds > 0,
		fmt.Sprintf("%.1f s, %.1f s of processor time", last.ReadSeconds, last.ReadCPUSeconds), last.ReadSeconds <= 10)
}

// slowest is the slowest admission in a cloud of a size, empty if none was
// measured there.
func (r *scaleReport) slowest(nodes int) admissionRow {
	var slowest admissionRow
	for _, x := range r.Admission {
		if x.Nodes == nodes && x.WholeNanoseconds > slowest.WholeNanoseconds {
			slowest = x
		}
	}
	return slowest
}

// touched is how many different numbers of nodes admissions touched.
func (r *scaleReport) touched() int {
	numbers := map[int]bool{}
	for _, x := range r.Admission {
		numbers[x.NodesTouched] = true
	}
	return len(numbers)
}

// TestScaleBars: bars are compared with what was measured in the largest cloud, and
// with nothing else.
func TestScaleBars(t *testing.T) {
	t.Parallel()
	large := storageRow{Nodes: 1_000_012, HeapBytes: 1, ResidentBytes: 2 << 30, ReadSeconds: 5}
	for name, c := range map[string]struct {
		report scaleReport
		want   string
	}{
		"nothing":        {scaleReport{}, "?????"},
		"memory alone":   {scaleReport{Storage: []storageRow{large}}, "??+-+"},
		"another cloud":  {scaleReport{Storage: []storageRow{large}, Admission: []admissionRow{{Nodes: 1_000_000, WholeNanoseconds: 1, NodesTouched: 6}}}, "??+-+"},
		"all is well":    {scaleReport{Storage: []storageRow{large}, Admission: []admissionRow{{Nodes: 1012, WholeNanoseconds: 99e3, NodesTouched: 6}, {Nodes: 1_000_012, WholeNanoseconds: 2e3, NodesTouched: 6}}}, "+++-+"},
		"slow and wider": {scaleReport{Storage: []storageRow{large}, Admission: []admissionRow{{Nodes: 1012, WholeNanoseconds: 1, NodesTouched: 6}, {Nodes: 1_000_012, WholeNanoseconds: 16e3, NodesTouched: 7}}}, "--+-+"},
	} {
		c.report.judge()
		var got strings.Builder
		for _, x := range c.report.Bars {
			switch {
			case x.Missing && !x.Met && x.Measured == "not measured":
				got.WriteByte('?')
			case x.Met:
				got.WriteByte('+')
			default:
				got.WriteByte('-')
			}
		}
		if got.String() != c.want {
			t.Errorf("%s: %s, not %s: %+v", name, &got, c.want, c.report.Bars)
		}
	}
}
