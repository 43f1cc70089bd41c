// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package command

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var optionName = regexp.MustCompile(`-(?:weaver-)?[a-z]+(?:-[a-z]+)*`)

// TestDocumentedOptions: what the help names the documentation names, and both
// write options with one dash.
func TestDocumentedOptions(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"apply": optionsHelp + optionsElsewhere}
	for _, command := range []string{"status", "why", "locks", "report", "resolve", "serve", "doctor"} {
		r := newRig(t, command, "-help")
		r.run(t, 0)
		pages[command] = r.stdout.String()
	}
	for command, help := range pages {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", "commands", command+".md"))
		if err != nil {
			t.Fatal(err)
		}
		options := map[string]bool{}
		for line := range strings.Lines(help) {
			if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "-") && !strings.HasPrefix(trimmed, "-h,") {
				options[optionName.FindString(trimmed)] = true
			}
		}
		if len(options) == 0 {
			t.Errorf("the help of %s has no options:\n%s", command, help)
		}
		for option := range options {
			if !slices.Contains(optionName.FindAllString(string(text), -1), option) {
				t.Errorf("%s.md does not name %s", command, option)
			}
		}
		if regexp.MustCompile("[ `(]--[a-z]").Match(text) {
			t.Errorf("%s.md writes an option with two dashes", command)
		}
	}
}
