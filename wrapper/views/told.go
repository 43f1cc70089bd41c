// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"strings"
	"unicode/utf8"

	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

// Told is the text of a report in two parts, each in one line: what is in the
// way, and what to type next. The address is never cut, so that it can be
// copied; whoever shows the text breaks its lines.
func Told(r conflict.Report) (sentence, next string) {
	address := printable(r.Address)
	if r.Decision == "" { // how it stands: the address is not what comes first
		address = ""
	}
	if r.ID == r.Address && address != "" { // a forecast: there is no transaction yet
		r.ID = ""
	}
	// Without an address the text has the short id in its place, and nothing
	// is left out to make room.
	if address != "" {
		r.Address = ""
	}
	lines := strings.Split(strings.TrimRight(conflict.Text(r), "\n"), "\n")
	if last := len(lines) - 1; last > 0 && strings.Contains(lines[last], "`") {
		lines, next = lines[:last], options(lines[last])
	}
	sentence = strings.Join(lines, " ")
	if address == "" {
		return sentence, next
	}
	if rest, ok := strings.CutPrefix(sentence, r.ID); ok {
		return address + " " + strings.TrimSpace(rest), next
	}
	return sentence, next
}

// options writes the options of a command with one dash, as Terraform's are and
// the rest of what is shown has them.
func options(text string) string {
	return strings.NewReplacer(" --", " -", "`--", "`-").Replace(text)
}

// afterColon is the reason in a sentence of the form "ADDRESS waits: reason";
// the whole sentence where it has another form. An address may have colons of
// its own, but none that a space follows.
func afterColon(sentence string) string {
	if _, reason, ok := strings.Cut(sentence, ": "); ok {
		return reason
	}
	return sentence
}

// OneLine is the whole text of a report in one line.
func OneLine(r conflict.Report) string {
	sentence, next := Told(r)
	return strings.TrimSpace(sentence + " " + next)
}

// wrap breaks a text between words into lines of at most width columns. A
// longer word gets a line of its own and is not cut.
func wrap(text string, width int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case column == 0:
		case column+1+n > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
