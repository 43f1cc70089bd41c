// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/tfweaver/tfweaver/acceptance/program"
)

// Figure is a measured figure that has a bar.
type Figure struct {
	Part     string `json:"part"`
	Figure   string `json:"figure"`
	Bar      string `json:"bar"`
	Measured string `json:"measured"`
	Met      bool   `json:"met"`
	// Missing is set when the figure or its bar is not among what was measured; the
	// bar is neither met nor missed then.
	Missing bool `json:"missing,omitempty"`
}

// notMeasured stands in place of a figure, or of a verdict, that there is none of.
const notMeasured = "not measured"

// verdict is a word for what became of the bar.
func (f Figure) verdict() string {
	switch {
	case f.Missing:
		return notMeasured
	case f.Met:
		return "met"
	default:
		return "MISSED"
	}
}

// judge notes a figure that should be no more than its bar, or no less if least is
// set.
func (b *bench) judge(part, figure string, measured, bar reading, least bool, format string) {
	text := func(r reading) string {
		if !r.known {
			return notMeasured
		}
		return fmt.Sprintf(format, r.value)
	}
	f := Figure{Part: part, Figure: figure, Bar: "<= " + text(bar), Measured: text(measured), Missing: !measured.known || !bar.known}
	if least {
		f.Bar = ">= " + text(bar)
	}
	switch {
	case f.Missing:
	case least:
		f.Met = measured.value >= bar.value
	default:
		f.Met = measured.value <= bar.value
	}
	b.figures = append(b.figures, f)
}

// summarise prints all figures with a bar.
func (b *bench) summarise() error {
	fmt.Fprintf(b.stdout, "\n== summary\n")
	t := tabwriter.NewWriter(b.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "part\tfigure\tbar\tmeasured\t")
	for _, f := range b.figures {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", f.Part, f.Figure, f.Bar, f.Measured, f.verdict())
	}
	return errors.Join(t.Flush(), program.WriteFigures(b.out, "summary.json", b.figures))
}

// barred is what a file of figures says of its own bars.
type barred struct {
	Bars []Figure `json:"bars"`
}

// read decodes a file of figures into each of the values.
func (b *bench) read(file string, into ...any) error {
	text, err := os.ReadFile(filepath.Join(b.out, file))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("nothing was written to %s: %w", file, err)
	}
	if err != nil {
		return fmt.Errorf("read the figures: %w", err)
	}
	for _, v := range into {
		if err := json.Unmarshal(text, v); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
	}
	return nil
}

// take takes over the bars that a file of figures names. One that says nothing of
// what was measured is not met, whatever else it says.
func (b *bench) take(part string, from barred) {
	for _, f := range from.Bars {
		f.Part = part
		if f.Measured == "" {
			f.Measured, f.Missing = notMeasured, true
		}
		f.Met = f.Met && !f.Missing
		b.figures = append(b.figures, f)
	}
	if len(from.Bars) == 0 {
		b.figures = append(b.figures, Figure{Part: part, Figure: "all figures", Measured: notMeasured, Missing: true})
	}
}
