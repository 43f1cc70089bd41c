// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package timeline

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// nameWidth is the width of the lane names, in characters.
const nameWidth = 10

// Text draws the panels width characters wide.
func Text(out io.Writer, panels []Panel, width int) error {
	var b bytes.Buffer
	axis := textAxis{span: span(panels), width: max(width-nameWidth-4, 20)}
	for _, p := range panels {
		fmt.Fprintf(&b, "\n%s\n%s\n", p.Title, p.Summary)
		for _, l := range p.Lanes {
			fmt.Fprintf(&b, "  %-*s |%s\n", nameWidth, l.Name, strings.TrimRight(axis.lane(l), " "))
		}
		fmt.Fprintf(&b, "  %-*s  %s\n", nameWidth, "", axis.marks())
	}
	if _, err := out.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write timeline: %w", err)
	}
	return nil
}

// textAxis maps time to columns.
type textAxis struct {
	span  time.Duration
	width int
}

func (a textAxis) column(at time.Duration) int {
	return min(int(int64(at)*int64(a.width-1)/int64(a.span)), a.width-1)
}

// lane draws the segments of a lane; a refusal is drawn last and may run over
// the end of the row, because its text is what matters.
func (a textAxis) lane(l Lane) string {
	row := []rune(strings.Repeat(" ", a.width))
	for _, s := range l.Segments {
		from, to := a.column(s.From), a.column(s.To)
		if s.Kind.moment() {
			row = overwrite(row, from, "X "+s.Label)
			continue
		}
		row = overwrite(row, from, drawn(s, to-from))
	}
	return string(row)
}

// drawn is a segment as text of the given width.
func drawn(s Segment, width int) string {
	if width < 2 {
		return "|"
	}
	fill, left, right := "=", "[", "]"
	switch s.Kind {
	case Waiting:
		fill, left, right = ".", ".", "."
	case Broken:
		fill, right = "x", "!"
	}
	inner := width - 2
	label := []rune(s.Label)
	if len(label) > inner {
		label = label[:inner]
	}
	return left + string(label) + strings.Repeat(fill, inner-len(label)) + right
}

func overwrite(row []rune, at int, text string) []rune {
	for n, c := range []rune(text) {
		if at+n < len(row) {
			row[at+n] = c
		} else {
			row = append(row, c)
		}
	}
	return row
}

// marks are the numbers of the axis, in seconds.
func (a textAxis) marks() string {
	row := []rune(strings.Repeat(" ", a.width))
	step := tick(a.span)
	for at := time.Duration(0); at <= a.span; at += step {
		row = overwrite(row, a.column(at), mark(at))
	}
	return strings.TrimRight(string(row), " ")
}

func mark(at time.Duration) string { return fmt.Sprintf("%gs", at.Seconds()) }
