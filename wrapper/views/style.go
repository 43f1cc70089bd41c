// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

// Style says how texts for people look.
type Style struct {
	// Colour uses the terminal's colours.
	Colour bool
	// Automation leaves out hints about what to type next: nobody is there
	// to type.
	Automation bool
	// Width is the number of columns of the terminal; 0 where there is none.
	Width int
}

// minWidth is the least width that texts are broken at: less is no terminal
// that somebody reads.
const minWidth = 40

// columns is at how many columns lines are broken.
func (s Style) columns() int {
	if s.Width == 0 {
		return conflict.Width
	}
	return max(s.Width, minWidth)
}

const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	bold   = "\x1b[1m"
	reset  = "\x1b[0m"
)

func (s Style) paint(codes, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return codes + text + reset
}

// boxMargin is how many columns a box takes up beside its text.
const boxMargin = 2

// box draws a text in the way of Terraform's diagnostics.
func (s Style) box(colour, label, summary, detail string) string {
	var b strings.Builder
	bar := s.paint(colour, "│")
	b.WriteString(s.paint(colour, "╷") + "\n")
	b.WriteString(bar + " " + s.paint(bold+colour, label+": ") + s.paint(bold, summary) + "\n")
	if detail != "" {
		b.WriteString(bar + "\n")
		for line := range strings.Lines(strings.TrimRight(detail, "\n")) {
			b.WriteString(strings.TrimRight(bar+" "+strings.TrimRight(line, "\n"), " ") + "\n")
		}
	}
	b.WriteString(s.paint(colour, "╵") + "\n")
	return b.String()
}
