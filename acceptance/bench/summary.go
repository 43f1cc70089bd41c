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
}

// judge notes a figure that should be no more than its bar, or no less if least is
// set.
func (b *bench) judge(part, figure string, measured, bar float64, least bool, format string) {
	f := Figure{Part: part, Figure: figure, Bar: "<= " + fmt.Sprintf(format, bar), Measured: fmt.Sprintf(format, measured), Met: measured <= bar}
	if least {
		f.Bar, f.Met = ">= "+fmt.Sprintf(format, bar), measured >= bar
	}
	b.figures = append(b.figures, f)
}

// summarise prints all figures with a bar.
func (b *bench) summarise() error {
	fmt.Fprintf(b.stdout, "\n== summary\n")
	t := tabwriter.NewWriter(b.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "part\tfigure\tbar\tmeasured\t")
	for _, f := range b.figures {
		word := "met"
		if !f.Met {
			word = "MISSED"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", f.Part, f.Figure, f.Bar, f.Measured, word)
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

// take takes over the bars that a file of figures names.
func (b *bench) take(part string, from barred) {
	for _, f := range from.Bars {
		f.Part = part
		b.figures = append(b.figures, f)
	}
}
