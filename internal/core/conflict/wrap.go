// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"strings"
	"unicode/utf8"
)

// clip cuts a text to n columns, and keeps control characters out of the
// terminal: names and purposes come from other people.
func clip(s string, n int) string {
	s = clean(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

// fit breaks the first version that n lines hold; the last one is cut if need
// be.
func fit(versions []string, n int) []string {
	for _, v := range versions[:len(versions)-1] {
		if lines, whole := wrap(v, n); whole {
			return lines
		}
	}
	lines, _ := wrap(versions[len(versions)-1], n)
	return lines
}

// wrap breaks a text into at most n lines of at most Width columns, and says
// whether they hold all of it.
func wrap(text string, n int) (lines []string, whole bool) {
	line := ""
	for _, w := range strings.Fields(clean(text)) {
		switch {
		case line == "":
			line = w
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) <= Width || len(lines) == n-1:
			line += " " + w
		default:
			lines = append(lines, line)
			line = w
		}
	}
	lines = append(lines, line)
	whole = true
	for i, l := range lines {
		lines[i] = clip(l, Width)
		whole = whole && lines[i] == l
	}
	return lines, whole
}
