// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

var (
	hexAddresses = regexp.MustCompile(`0x[0-9a-f]+`)
	goroutines   = regexp.MustCompile(`goroutine \d+`)
)

// traceIn are the lines of the panic trace in what a run said, without frames, and
// without what differs between any two runs.
func traceIn(said string) (lines []string) {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "│"))
		if strings.HasPrefix(line, "panic: ") {
			lines = []string{}
		}
		if lines == nil {
			continue
		}
		// The CLI and tfweaver say something of their own below.
		if strings.HasPrefix(line, "Error: ") || strings.HasPrefix(line, "Where it was") || strings.HasPrefix(line, "╷") {
			break
		}
		if line != "" {
			lines = append(lines, goroutines.ReplaceAllString(hexAddresses.ReplaceAllString(line, "0x"), "goroutine N"))
		}
	}
	return lines
}

// TestProviderCrash: the trace of a provider that crashes is shown as by the CLI,
// and the exit code is the CLI's.
func TestProviderCrash(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"five", "six"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, lab.Setup{Cloud: fast()})
			hcl := strings.ReplaceAll("resource \"@_thing\" \"x\" {\n  name  = \"x\"\n  fault = \"crash\"\n}\n", "@", provider)
			native := b.terraform(b.workspaceOf(b.FixtureWorkspace(b.ctx, "native", hcl)), 1, "apply", "-auto-approve", "-no-color")
			ours := b.tfweaver(b.workspaceOf(b.FixtureWorkspace(b.ctx, "ours", hcl)), 1, "apply", "-auto-approve", "-no-color")
			want, got := traceIn(native.Stderr()), traceIn(ours.Stderr())
			if len(want) < 4 || !slices.Equal(want, got) {
				t.Errorf("the trace is %q, the CLI shows %q", got, want)
			}
			if !strings.Contains(ours.Stderr(), "Plugin did not respond") {
				t.Error("the CLI's own words are missing")
			}
		})
	}
}

// logLine is a line of a log without its time and its fields.
var logLine = regexp.MustCompile(`(?m)^\S+ (\[[A-Z]+\] +provider\.terraform-provider-\w+_v[0-9.]+: [^:=\n]*)`)

// logKinds are the kinds of lines of providers in a log.
func logKinds(text string) map[string]bool {
	kinds := map[string]bool{}
	for _, found := range logLine.FindAllStringSubmatch(text, -1) {
		// What the SDK does on the way, such as its waiting, depends on the moment.
		kinds[strings.TrimSpace(found[1])] = true
	}
	return kinds
}

// TestProviderLogs: the lines of providers are where, and as many kinds of, as
// without tfweaver.
func TestProviderLogs(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{
		"all":            {"TF_LOG=TRACE"},
		"providers only": {"TF_LOG_PROVIDER=DEBUG"},
		"core only":      {"TF_LOG_CORE=TRACE"},
		"providers less": {"TF_LOG=TRACE", "TF_LOG_PROVIDER=WARN"},
		"to a file":      {"TF_LOG=DEBUG", "TF_LOG_PATH=run.log"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, lab.Setup{Cloud: fast(), Env: env})
			w := oneThing(b, "logged")
			log := filepath.Join(w.Dir, "run.log")
			read := func(run *lab.Run) map[string]bool {
				text, err := os.ReadFile(log)
				if err != nil {
					return logKinds(run.Stderr())
				}
				_ = os.Remove(log)
				if len(logKinds(run.Stderr())) > 0 {
					t.Error("lines of providers are on standard error, too")
				}
				return logKinds(string(text))
			}
			want := read(b.terraform(w, 0, "plan", "-no-color"))
			got := read(b.tfweaver(w, 0, "plan", "-no-color"))
			for kind := range want {
				if !got[kind] {
					t.Errorf("there is no %q", kind)
				}
			}
			for kind := range got {
				if !want[kind] {
					t.Errorf("the CLI alone has no %q", kind)
				}
			}
			if strings.HasPrefix(name, "all") && len(want) < 10 {
				t.Errorf("only %d kinds are compared", len(want))
			}
		})
	}
}

// recorded makes the lock file say that the package of a provider is what it is
// now.
func recorded(b *bench, w *lab.Workspace, provider string) {
	b.t.Helper()
	hash, err := dirhash.HashDir(packageOf(b, w, provider, lab.ProviderVersion), "", dirhash.Hash1)
	if err != nil {
		b.t.Fatal(err)
	}
	block := regexp.MustCompile(`(?s)(provider "[^"]*/` + provider + `" \{.*?hashes = \[)[^\]]*\]`)
	editLock(b, w, func(text string) string { return block.ReplaceAllString(text, "${1}\n    \""+hash+"\",\n  ]") })
}

// TestProviderThatDoesNotStart: the exit code is the CLI's, and the text says which
// provider it is and what it said.
func TestProviderThatDoesNotStart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		program string
		says    []string
	}{
		"prints something else": {"#!/bin/sh\necho this is no handshake\nsleep 1\n", []string{"this is no handshake"}},
		"ends at once":          {"#!/bin/sh\necho 'the moon is wrong' >&2\nexit 3\n", []string{"the moon is wrong"}},
		"protocol 4":            {"#!/bin/sh\necho '1|4|unix|/nowhere|grpc|'\nsleep 1\n", []string{"Plugin version: 4"}},
		"protocol 7":            {"#!/bin/sh\necho '1|7|unix|/nowhere|grpc|'\nsleep 1\n", []string{"Plugin version: 7"}},
		"no program":            {"\x7fELF", []string{"exec format error"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, lab.Setup{Cloud: fast()})
			w := oneThing(b, "broken")
			_, program := ownPackage(b, w, "six")
			if err := os.WriteFile(program, []byte(test.program), 0o700); err != nil {
				t.Fatal(err)
			}
			recorded(b, w, "six")
			b.terraform(w, 1, "plan", "-no-color")
			b.refusedBeforeStart(w, 1, append(test.says, "tfweaver/six")...)
		})
	}
}

// switched replaces the program of a provider by one that is that program unless a
// file is there, and returns that file. The lock file has it so. It leaves a mark
// for each start in another file.
func switched(b *bench, w *lab.Workspace, provider string) (broken, starts string) {
	b.t.Helper()
	_, program := ownPackage(b, w, provider)
	dir := b.t.TempDir()
	real := filepath.Join(dir, "real")
	if err := os.Rename(program, real); err != nil {
		b.t.Fatal(err)
	}
	broken, starts = filepath.Join(dir, "broken"), filepath.Join(dir, "starts")
	script := "#!/bin/sh\necho x >>'" + starts + "'\n[ -e '" + broken + "' ] && { echo 'the moon is wrong' >&2; exit 3; }\nexec '" + real + "'\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		b.t.Fatal(err)
	}
	recorded(b, w, provider)
	return broken, starts
}

func linesOf(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	return strings.Count(string(text), "\n")
}

// TestProvidersStartWhenNeeded: one that the lock file has and the configuration
// does not need is started once to learn what it speaks, and never again, as the
// CLI does not.
func TestProvidersStartWhenNeeded(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := oneThing(b, "lazy")
	_, starts := switched(b, w, "five")
	only := strings.Replace(lab.FixturePreamble, "    five = {\n      source = \"tfweaver/five\"\n    }\n", "", 1)
	if err := w.Write("main.tf", only+"resource \"six_thing\" \"x\" {\n  name = \"x\"\n}\n"); err != nil {
		t.Fatal(err)
	}
	b.terraform(w, 0, "plan", "-no-color")
	if n := linesOf(starts); n != 0 {
		t.Errorf("the CLI started it %d times", n)
	}
	b.tfweaver(w, 0, "plan", "-no-color")
	if n := linesOf(starts); n != 1 {
		t.Errorf("started %d times to learn what it speaks, want once", n)
	}
	b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
	if n := linesOf(starts); n != 1 {
		t.Errorf("started %d times more although nobody needs it", n-1)
	}
}

// TestNotedProviderDoesNotStart: when the CLI was told of a provider before it was
// started, the CLI shows why it cannot be.
func TestNotedProviderDoesNotStart(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := oneThing(b, "noted")
	broken, _ := switched(b, w, "six")
	b.tfweaver(w, 0, "plan", "-no-color")
	if err := os.WriteFile(broken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.refusedBeforeStart(w, 1, "the moon is wrong", "six")
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
}

// TestWrongNote: a note of another protocol than the provider speaks fails one run
// before anything is sent, and is gone then; a damaged one is not even noticed.
func TestWrongNote(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := oneThing(b, "noted")
	b.tfweaver(w, 0, "plan", "-no-color")
	notes, err := filepath.Glob(filepath.Join(w.Home(), ".cache", "tfweaver", "protocols", "*"))
	if err != nil || len(notes) != 3 {
		t.Fatalf("notes %v, %v", notes, err)
	}
	rewrite := func(edit func(string) string) {
		for _, note := range notes {
			text, err := os.ReadFile(note)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(note, []byte(edit(string(text))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	rewrite(func(text string) string {
		return strings.NewReplacer(`"protocol":6`, `"protocol":5`, `"protocol":5`, `"protocol":6`).Replace(text)
	})
	run := b.tfweaver(w, 1, "apply", "-auto-approve", "-no-color")
	if !strings.Contains(unwrapped(run.Said()), "run the command again") {
		t.Error("does not say what to do")
	}
	b.tfweaver(w, 0, "plan", "-no-color")
	rewrite(func(text string) string { return text[:len(text)/2] })
	b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
}
