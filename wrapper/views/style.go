// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import "strings"

// Style says how texts for people look.
type Style struct {
	// Colour uses the terminal's colours.
	Colour bool
	// Automation leaves out hints about what to type next: nobody is there
	// to type.
	Automation bool
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
