// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// one is what one run took.
type one struct {
	// CPU is processor time of the run and its descendants and, of a run with
	// tfweaver, of the coordinator meanwhile. Wall is from start to end. All times
	// are in seconds.
	CPU       float64 `json:"cpu_s"`
	Wall      float64 `json:"wall_s"`
	FirstWord float64 `json:"first_word_s"`
	// Memory is the most that the process itself had, in bytes.
	Memory int64 `json:"memory_bytes"`
}

// figure is what a scene took in all rounds.
type figure struct {
	Scene    string  `json:"scene"`
	Plain    []one   `json:"plain"`
	Tfweaver []one   `json:"tfweaver"`
	Ratio    float64 `json:"cpu_ratio"`
	Bar      float64 `json:"cpu_ratio_bar,omitempty"`
}

// report is what is written.
type report struct {
	CLI      string    `json:"cli"`
	CPUs     int       `json:"cpus"`
	Measured time.Time `json:"measured"`
	Rounds   int       `json:"rounds"`
	Size     int       `json:"size"`
	Large    int       `json:"large"`
	// Load is the machine's load average over a minute when the measuring began.
	Load    string   `json:"load"`
	Figures []figure `json:"figures"`
}

func median(runs []one, of func(one) float64) float64 {
	if len(runs) == 0 {
		return 0
	}
	values := make([]float64, 0, len(runs))
	for _, r := range runs {
		values = append(values, of(r))
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 0 {
		return (values[middle-1] + values[middle]) / 2
	}
	return values[middle]
}

func cpu(o one) float64    { return o.CPU }
func wall(o one) float64   { return o.Wall }
func first(o one) float64  { return o.FirstWord }
func memory(o one) float64 { return float64(o.Memory) / (1 << 20) }

func greatest(runs []one, of func(one) float64) float64 {
	most := 0.0
	for _, r := range runs {
		most = max(most, of(r))
	}
	return most
}

// table prints the medians; of memory and of the first word the greatest.
func (r report) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "scene\tplain CPU s\ttfweaver CPU s\tratio\tbar\tplain wall s\ttfweaver wall s\tmemory MB\tfirst word s")
	for _, f := range r.Figures {
		bar := ""
		if f.Bar > 0 {
			bar = fmt.Sprintf("%.2f", f.Bar)
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.3f\t%s\t%.2f\t%.2f\t%.0f\t%.2f\n", f.Scene,
			median(f.Plain, cpu), median(f.Tfweaver, cpu), f.Ratio, bar,
			median(f.Plain, wall), median(f.Tfweaver, wall), greatest(f.Tfweaver, memory), greatest(f.Tfweaver, first))
	}
	return t.Flush()
}
