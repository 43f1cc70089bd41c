// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/wrapper/views"
)

// TestWarningsComeWhereTheCLIPutsThem: once at the beginning, or after the changes.
func TestWarningsComeWhereTheCLIPutsThem(t *testing.T) {
	t.Parallel()
	second := 0
	line := func(kind, rest string) string {
		second++
		return fmt.Sprintf(`{"@timestamp":"%d","type":"%s"%s}`+"\n", second, kind, rest)
	}
	warning := func(summary, context string) string {
		return line("diagnostic", fmt.Sprintf(`,"diagnostic":{"severity":"warning","summary":%q,"snippet":{"context":%q}}`, summary, context))
	}
	failure := line("diagnostic", `,"diagnostic":{"severity":"error"}`)
	version, start, summary := line("version", ""), line("apply_start", ""), line("change_summary", "")
	old, again := warning("old option", ""), warning("old option", "")
	found, check, later := warning("found", `resource "a" "b"`), warning("checked", `check "c"`), warning("later", "")

	for name, tt := range map[string]struct {
		plan, apply []string
		want        []string
	}{
		"after the changes":       {[]string{version, summary, found}, []string{start, summary}, []string{version, summary, start, found, summary}},
		"before what came later":  {[]string{summary, found}, []string{start, later, summary}, []string{summary, start, found, later, summary}},
		"before errors":           {[]string{summary, found}, []string{start, failure}, []string{summary, start, found, failure}},
		"those of checks not":     {[]string{summary, check}, []string{check, summary}, []string{summary, check, summary}},
		"at the beginning once":   {[]string{version, old, summary}, []string{again, start, summary}, []string{version, old, summary, start, summary}},
		"others at the beginning": {[]string{version, old, summary}, []string{later, start, summary}, []string{version, old, summary, later, start, summary}},
		"not lost":                {[]string{summary, found}, nil, []string{summary, found}},
		"no JSON":                 {[]string{"text\n", found}, []string{"text\n"}, []string{"text\n", "text\n", found}},
	} {
		var got bytes.Buffer
		w := warnings{out: views.NewPrinter(&got)}
		for _, l := range tt.plan {
			if !w.plan([]byte(l)) {
				got.WriteString(l)
			}
		}
		w.applying()
		for _, l := range tt.apply {
			if !w.apply([]byte(l)) {
				got.WriteString(l)
			}
		}
		w.release()
		want := ""
		for _, l := range tt.want {
			want += l
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
