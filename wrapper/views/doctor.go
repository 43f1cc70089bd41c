// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Level says how good a thing is that was looked at.
type Level string

// The levels.
const (
	// Fine: nothing is to be done.
	Fine Level = "ok"
	// Doubtful: runs go on, and not all is as one may think.
	Doubtful Level = "warn"
	// Failing: runs are stopped by it.
	Failing Level = "fail"
)

// Check is one thing that was looked at.
type Check struct {
	// Group is what it belongs to, such as "Terraform"; Name is short.
	Group string `json:"group"`
	Name  string `json:"name"`
	Level Level  `json:"level"`
	// Found is what there is, in a sentence or less. It holds no secret.
	Found string `json:"found"`
	// Remedy says what to do, as something that can be typed where that is
	// possible; it is empty only where nothing is wrong.
	Remedy string `json:"remedy,omitempty"`
	// Facts are parts of Found for programs, such as "path" and "version".
	Facts map[string]string `json:"facts,omitempty"`
}

// Diagnosis is what "tfweaver doctor" found out.
type Diagnosis struct {
	// Version is tfweaver's.
	Version string `json:"version"`
	// Dir is the working folder.
	Dir    string  `json:"dir"`
	Checks []Check `json:"checks"`
	// Warnings and Failures are how many checks have that level.
	Warnings int `json:"warnings"`
	Failures int `json:"failures"`
}

// Add appends a check and counts it.
func (d *Diagnosis) Add(c Check) {
	d.Checks = append(d.Checks, c)
	switch c.Level {
	case Doubtful:
		d.Warnings++
	case Failing:
		d.Failures++
	}
}

const (
	green = "\x1b[32m"
	// column is how wide a level is with the blanks around it.
	levelColumn = 8
)

// DiagnosisText is a diagnosis for people: one line per check where it fits, in
// groups, and below it what to do.
func DiagnosisText(d Diagnosis, style Style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "tfweaver %s in %s\n", printable(d.Version), printable(d.Dir))
	widest := 0
	for _, c := range d.Checks {
		widest = max(widest, utf8.RuneCountInString(c.Name))
	}
	group := ""
	for _, c := range d.Checks {
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(&b, "\n%s\n", style.paint(bold, printable(group)))
		}
		b.WriteString(style.check(c, widest))
	}
	fmt.Fprintf(&b, "\n%s\n", verdict(d))
	return b.String()
}

// check is one check; name is how many columns names take up.
func (s Style) check(c Check, name int) string {
	indent := strings.Repeat(" ", levelColumn+name+2)
	width := max(s.columns()-len(indent), minWidth/2)
	level := fmt.Sprintf("%-*s", levelColumn-2, c.Level)
	text := "  " + s.paint(colourOf(c.Level), level) + fmt.Sprintf("%-*s  ", name, printable(c.Name))
	text += below(indent, wrap(printable(c.Found), width)) + "\n"
	if c.Remedy != "" {
		for line := range strings.Lines(c.Remedy) {
			if strings.HasPrefix(line, "  ") { // something to copy: its blanks matter
				text += indent + printable(strings.TrimRight(line, "\n")) + "\n"
				continue
			}
			text += indent + "→ " + below(indent+"  ", wrap(printable(line), width-2)) + "\n"
		}
	}
	return text
}

// below indents all lines but the first.
func below(indent, text string) string { return strings.ReplaceAll(text, "\n", "\n"+indent) }

func colourOf(l Level) string {
	switch l {
	case Failing:
		return bold + red
	case Doubtful:
		return yellow
	default:
		return green
	}
}

func verdict(d Diagnosis) string {
	warnings := count(d.Warnings, "warning")
	switch {
	case d.Failures > 0:
		return fmt.Sprintf("%s, %s. Runs are stopped by what fails.", count(d.Failures, "failure"), warnings)
	case d.Warnings > 0:
		return fmt.Sprintf("Nothing fails; %s.", warnings)
	default:
		return "All is well."
	}
}
