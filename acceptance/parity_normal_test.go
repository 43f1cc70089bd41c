// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What two runs of plain Terraform in two equal workspaces do not have in common,
// and what stands for it. All else is compared byte for byte:
//
//   - the workspace's folder, its home and the address of its cloud;
//   - random identifiers and digests of what holds them, moments, durations, and the
//     lines that come every ten seconds;
//   - the order of lines about resources that are worked on in parallel, and of a
//     list in the JSON form of plans.
var drawn = []struct {
	what *regexp.Regexp
	is   string
}{
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "UUID"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?(Z|UTC|[+-]\d\d:?\d\d))?( UTC)?`), "MOMENT"},
	{regexp.MustCompile(`after (\d+m)?\d+s`), "after DURATION"},
	{regexp.MustCompile(`W/\\"[0-9a-f]{16}-[0-9a-f]+`), `W/\"TAG`},
	{regexp.MustCompile(`\b[A-Z2-7]{26}\b`), "UID"},
	{regexp.MustCompile(`"elapsed_seconds":\d+`), `"elapsed_seconds":DURATION`},
}

// normal is an outcome without what is drawn anew in each workspace.
func (p *twins) normal(w *twin, o outcome) outcome {
	places := strings.NewReplacer(w.Dir, "FOLDER", w.Home(), "HOME", strings.TrimPrefix(w.bench.Cloud.Endpoint, "http://"), "CLOUD")
	clean := func(text string) string { return inOrder(withoutDrawn(places.Replace(text))) }
	return outcome{Code: o.Code, Stdout: clean(o.Stdout), Stderr: clean(o.Stderr)}
}

func withoutDrawn(text string) string {
	text = encoded.ReplaceAllStringFunc(still.ReplaceAllString(text, ""), decode)
	for _, d := range drawn {
		text = d.what.ReplaceAllString(text, d.is)
	}
	return relevant.ReplaceAllStringFunc(text, sorted)
}

// still are the lines that come every ten seconds.
var still = regexp.MustCompile(`(?m)^.*: Still (creating|modifying|destroying|reading)\.\.\. \[.*elapsed\].*\n`)

// relevant is a list in the JSON form of a plan whose order is drawn.
var relevant = regexp.MustCompile(`"relevant_attributes":\[.*?\],"timestamp"`)

func sorted(list string) string {
	const before, behind = `"relevant_attributes":[`, `],"timestamp"`
	entries := strings.SplitAfter(strings.TrimSuffix(strings.TrimPrefix(list, before), behind), "]}")
	for n, entry := range entries {
		entries[n] = strings.TrimPrefix(entry, ",")
	}
	slices.Sort(entries)
	return before + strings.Join(entries, ",") + behind
}

// encoded is what a provider keeps in the state for itself, in two layers.
var encoded = regexp.MustCompile(`"[A-Za-z0-9+/]{16,}={0,2}"`)

// decode shows what is encoded, if it is, so that what is drawn in it can be found
// and the rest be compared.
func decode(quoted string) string {
	inner := strings.Trim(quoted, `"`)
	text, err := base64.StdEncoding.DecodeString(inner)
	if err != nil || !json.Valid(text) {
		return quoted
	}
	return "decoded:" + encoded.ReplaceAllStringFunc(string(text), decode)
}

// parallel are the lines about single resources, people's and programs', whose
// order is drawn anew.
var parallel = regexp.MustCompile(`^(\x1b\[0m)*(\x1b\[1m)?(\x1b\[32m)?[\w.\[\]"-]+: (Refreshing|Reading|Read complete|Creating|Creation|Modifying|Modifications|Destroying|Destruction|Importing|Import|Opening|Closing)\b|^(\x1b\[0m)?(\x1b\[32m)?  Prepared \w+ for import|"type":"((refresh|apply|ephemeral_op)_(start|complete|errored)|planned_change)"`)

// behind is what the CLI writes at the end of a plan, in front of the first of
// those lines.
var behind = regexp.MustCompile(`(?m)^\x1b\[0m(\x1b\[0m\x1b\[1m[\w.\[\]"-]+: )`)

// inOrder sorts what is next to each other and happened in parallel.
func inOrder(text string) string {
	lines := slices.Collect(strings.Lines(behind.ReplaceAllString(text, "\x1b[0m(END)\n$1")))
	for start := 0; start < len(lines); {
		end := start
		for end < len(lines) && parallel.MatchString(lines[end]) {
			end++
		}
		slices.Sort(lines[start:end])
		start = max(end, start+1)
	}
	return strings.Join(lines, "")
}

// addedLines are what tfweaver adds to standard error where nobody is in its way:
// how much of the plan the rules know, and where the run was coordinated.
var addedLines = regexp.MustCompile(`(?m)^(Rules cover \d+ of \d+ changes?\.|Coordinated (on|with) ).*\n|^\nCoordination:\n(  - .*\n)+`)

// addedHelp is the section that follows the CLI's help.
const addedHelp = "\nThis is tfweaver in place of the CLI."

func withoutHelp(stderr string) string {
	before, _, _ := strings.Cut(stderr, addedHelp)
	return before
}

// progress is what tfweaver says, where the CLI says nothing for long, while
// providers are at work.
var progress = regexp.MustCompile(`(?m)^(\{.*"type":"weaver_progress".*\}|tfweaver: .*\[(\d+m)?\d+s elapsed\])\n`)

func withoutProgress(text string) string { return inOrder(progress.ReplaceAllString(text, "")) }

// runsProviders says whether a command is one of those.
func runsProviders(args []string) bool {
	n := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	return n >= 0 && slices.Contains([]string{"apply", "destroy", "plan", "refresh", "import", "console", "test"}, args[n])
}

func withoutOwn(stderr string) string { return inOrder(addedLines.ReplaceAllString(stderr, "")) }

var addedJSON = regexp.MustCompile(`(?m)^\{.*"type":"weaver_\w+".*\}\n`)

func withoutOwnJSON(stdout string) string { return inOrder(addedJSON.ReplaceAllString(stdout, "")) }

// warnings are the CLI's, for people and for programs.
var warnings = regexp.MustCompile(`(?s)\x1b\[33m╷.*?╵\x1b\[0m\x1b\[0m\n|(?-s)\{"@level":"warn".*"type":"diagnostic"\}\n`)

// warned takes the warnings out of a text, and puts each of them behind it once:
// natively an apply that does not ask keeps those of its plan to the end.
func warned(text string) string {
	all := warnings.FindAllString(text, -1)
	slices.Sort(all)
	return inOrder(warnings.ReplaceAllString(text, "")) + strings.Join(slices.Compact(all), "")
}

// TestParityIsJudgedStrictly: what a wrapper might lose or add is a difference.
func TestParityIsJudgedStrictly(t *testing.T) {
	t.Parallel()
	text := "\x1b[0m\x1b[1msimcloud_subnet.a: Creating...\x1b[0m\n\x1b[0m\x1b[1msimcloud_subnet.b: Creating...\x1b[0m\n" +
		"simcloud_subnet.a: Creation complete after 3s [id=/subscriptions/00000000-0000-0000-0000-000000000000/x]\n" +
		"\nApply complete! Resources: 2 added, 0 changed, 0 destroyed.\n"
	want := outcome{Code: 1, Stdout: inOrder(withoutDrawn(text)), Stderr: "╷\n│ Error: Conflict\n╵\n"}
	again := want
	again.Stdout = inOrder(withoutDrawn(strings.Replace(text, "after 3s", "after 1m4s", 1)))
	again.Stderr += "Rules cover 2 of 2 changes.\nCoordinated on host; no other session was open.\n"
	if diff := difference(want, again, true); diff != "" {
		t.Errorf("another duration and own lines are differences:\n%s", diff)
	}
	mutants := map[string]outcome{
		"another exit code":       {Code: 0, Stdout: want.Stdout, Stderr: want.Stderr},
		"standard error is lost":  {Code: 1, Stdout: want.Stdout},
		"standard output is lost": {Code: 1, Stderr: want.Stderr},
		"streams are joined":      {Code: 1, Stdout: want.Stdout + want.Stderr},
		"own lines on the output": {Code: 1, Stdout: "Rules cover 2 of 2 changes.\n" + want.Stdout, Stderr: want.Stderr},
		"a line is said twice":    {Code: 1, Stdout: strings.Replace(want.Stdout, "Creating...\x1b[0m\n", "Creating...\x1b[0m\nsimcloud_subnet.a: Creating...\x1b[0m\n", 1), Stderr: want.Stderr},
		"colours are lost":        {Code: 1, Stdout: strings.ReplaceAll(want.Stdout, "\x1b[1m", ""), Stderr: want.Stderr},
		"the end comes first":     {Code: 1, Stdout: "\nApply complete! Resources: 2 added, 0 changed, 0 destroyed.\n" + want.Stdout, Stderr: want.Stderr},
	}
	for n := range want.Stdout {
		mutants[fmt.Sprintf("byte %d is lost", n)] = outcome{Code: 1, Stdout: want.Stdout[:n] + want.Stdout[n+1:], Stderr: want.Stderr}
	}
	for name, mutant := range mutants {
		if difference(want, mutant, true) == "" {
			t.Errorf("%s: no difference", name)
		}
	}
	if difference(want, again, false) == "" {
		t.Error("own lines where none are documented are no difference")
	}
}
