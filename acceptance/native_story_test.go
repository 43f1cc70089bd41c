// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/acceptance/fixture/journal"
	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// story is a sequence of runs that is told twice: by plain Terraform in one
// workspace and by tfweaver in another, each with a folder of its own for the
// objects of the fixture provider. After each run both must have the same exit
// code, objects, changes and state; at the end plain Terraform must find nothing
// to do in the workspace of tfweaver.
//
// In its texts "fx" stands for the fixture provider, which is five or six.
type story struct {
	name string
	// over are the plugin protocols over which it is told; 6 if none.
	over []int
	// hcl is the configuration of the first step, and of the last plan unless a
	// step replaces it.
	hcl string
	// files are written beside it; with modules among them init is run.
	files map[string]string
	// env is added to the environment of all runs.
	env   []string
	steps []step
	// ticks is set where the clock, in seconds, must have gone on before each step
	// but the first, and before the last plan.
	ticks bool
	// again are the arguments of the last plan, ends is its exit code.
	again string
	ends  int
	// check looks at what it has come to.
	check func(*told)
}

// step is one run.
type step struct {
	// args are the command line, split at spaces.
	args string
	// hcl replaces the configuration before the run, files are written.
	hcl   string
	files map[string]string
	// before happens before the run, with the folder of the objects.
	before func(fixture string) error
	// input is the standard input; there is none if empty.
	input string
	code  int
	// says must be among what both write, without regard to line breaks.
	says string
}

// applies is the step that nearly every story has.
var applies = step{args: "apply -auto-approve"} //nolint:gochecknoglobals // never changed

// told is a story while it is told.
type told struct {
	*bench
	story
	plain, woven *side
	// fixture is five or six.
	fixture string
}

// side is one of the two workspaces.
type side struct {
	*lab.Workspace
	program, objects string
	said             string
}

// tell tells stories, each over its protocols, in subtests.
func tell(t *testing.T, stories ...story) {
	t.Helper()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			over := s.over
			if over == nil {
				over = []int{6}
			}
			for _, protocol := range over {
				t.Run(fixtureOf(protocol), func(t *testing.T) {
					t.Parallel()
					s.tell(t, protocol)
				})
			}
		})
	}
}

func fixtureOf(protocol int) string { return map[int]string{5: "five", 6: "six"}[protocol] }

// tick waits until the clock shows another second, where that matters.
func (s story) tick(matters bool) {
	if s.ticks && matters {
		time.Sleep(time.Second)
	}
}

func (s story) tell(t *testing.T, protocol int) {
	s.name += " over " + fixtureOf(protocol)
	tale := &told{bench: newBench(t, lab.Setup{}), story: s, fixture: fixtureOf(protocol)}
	tale.plain = tale.side("plain", shared.CLI.Path)
	tale.woven = tale.side("woven", shared.Tfweaver)
	for n, st := range s.steps {
		s.tick(n > 0)
		tale.step(n+1, st)
		if t.Failed() {
			return // they have nothing in common any more
		}
	}
	if s.check != nil {
		s.check(tale)
	}
	s.tick(true)
	last := step{args: strings.TrimSpace("plan -detailed-exitcode " + s.again), code: s.ends}
	if code := tale.run(tale.woven, shared.CLI.Path, last); code != s.ends {
		t.Errorf("plain Terraform finds something to do afterwards: exit code %d, want %d\n%s", code, s.ends, tale.woven.said)
	}
}

// side makes one of the workspaces.
func (s *told) side(name, program string) *side {
	s.t.Helper()
	preamble := s.text("terraform {\n  required_providers {\n    fx = { source = \"tfweaver/fx\" }\n  }\n}\n")
	w := s.workspaceOf(s.Below(s.ctx, preamble, name, s.text(s.hcl)))
	one := &side{Workspace: w, program: program, objects: filepath.Join(s.FixtureDir(), name)}
	if err := os.Mkdir(one.objects, 0o700); err != nil {
		s.t.Fatal(err)
	}
	w.Env = append([]string{"FIXTURE_DIR=" + one.objects}, s.env...)
	if s.write(one, s.files) {
		s.terraform(w, 0, "init", "-no-color")
	}
	return one
}

// text puts the name of the fixture into a text.
func (s *told) text(text string) string { return strings.ReplaceAll(text, "fx", s.fixture) }

// write writes files and reports whether a module is among them.
func (s *told) write(to *side, files map[string]string) (modules bool) {
	s.t.Helper()
	for name, text := range files {
		folder := filepath.Dir(name)
		if err := os.MkdirAll(filepath.Join(to.Dir, folder), 0o700); err != nil {
			s.t.Fatal(err)
		}
		if err := to.Write(name, s.text(text)); err != nil {
			s.t.Fatal(err)
		}
		modules = modules || folder != "."
	}
	return modules
}

// step lets both make a run and compares what has become of it.
func (s *told) step(n int, st step) {
	s.t.Helper()
	var both sync.WaitGroup
	codes := make([]int, 2)
	for k, one := range []*side{s.plain, s.woven} {
		s.prepare(one, st)
		both.Go(func() { codes[k] = s.run(one, one.program, st) })
	}
	both.Wait()
	if codes[0] != st.code || codes[1] != st.code {
		s.t.Errorf("step %d, %s: exit code %d of plain Terraform and %d of tfweaver, want %d", n, st.args, codes[0], codes[1], st.code)
	}
	for _, one := range []*side{s.plain, s.woven} {
		if !strings.Contains(folded(one.said), folded(s.text(inWords(st.says)))) {
			s.t.Errorf("step %d, %s: %s does not say %q", n, st.args, one.Actor, st.says)
		}
	}
	if diff := cmp.Diff(s.sight(s.plain), s.sight(s.woven)); diff != "" {
		s.t.Errorf("step %d, %s: plain Terraform (-) and tfweaver (+) have left different things:\n%s", n, st.args, diff)
	}
	if s.t.Failed() {
		s.t.Logf("step %d, %s: plain Terraform said\n%s\ntfweaver said\n%s", n, st.args, s.plain.said, s.woven.said)
	}
}

func (s *told) prepare(one *side, st step) {
	s.t.Helper()
	if st.hcl != "" {
		if err := one.Configure(s.text(st.hcl)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.write(one, st.files)
	if st.before != nil {
		if err := st.before(one.objects); err != nil {
			s.t.Fatal(err)
		}
	}
}

// run makes a run and returns its exit code.
func (s *told) run(one *side, program string, st step) int {
	var said bytes.Buffer
	args := strings.Fields(s.text(st.args))
	args = append(args[:1:1], append([]string{"-no-color"}, args[1:]...)...)
	cmd := one.Command(s.ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &said, &said
	if st.input != "" {
		cmd.Stdin = strings.NewReader(st.input)
		cmd.Env = append(cmd.Env, "TF_INPUT=1")
	}
	err := cmd.Run()
	one.said = said.String()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Errorf("%s: %v", st.args, err)
	}
	return cmd.ProcessState.ExitCode()
}

// tofuWords are Terraform's words and what OpenTofu says instead, where stories
// look for them.
var tofuWords = strings.NewReplacer( //nolint:gochecknoglobals // never changed
	"so must be replaced", "so it must be replaced",
	"Instance cannot be destroyed", "Resource instance cannot be destroyed",
)

// inWords puts a text into the words of the product that is tested with.
func inWords(text string) string {
	if shared.CLI.Product == "OpenTofu" {
		return tofuWords.Replace(text)
	}
	return text
}

// folded is a text without the CLI's boxes and line breaks.
func folded(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(text)), " ")
}

// changes are the begun changes of an object in the journal, oldest first, each
// with its outcome; nothing of what was only read.
func changes(events []lab.FixtureEvent) map[string][]string {
	all := make(map[string][]string)
	for _, e := range events {
		of := e.Type + " " + e.Name
		switch {
		case e.IsChange():
			all[of] = append(all[of], e.What)
		case e.What == journal.End:
			all[of][len(all[of])-1] += " " + e.Outcome
		}
	}
	return all
}

// counted is how often something happened.
func counted(events []lab.FixtureEvent, what string) (n int) {
	for _, e := range events {
		if e.What == what {
			n++
		}
	}
	return n
}

// events is the journal of a side.
func (s *told) events(one *side) []lab.FixtureEvent {
	s.t.Helper()
	events, err := journal.Load(one.objects)
	if err != nil {
		s.t.Fatal(err)
	}
	return events
}

// both is a check that is made for either side.
func both(check func(s *told, one *side)) func(*told) {
	return func(s *told) {
		check(s, s.plain)
		check(s, s.woven)
	}
}

// ever must have happened to an object.
func ever(object string, want ...string) func(*told) {
	return both(func(s *told, one *side) {
		got := changes(s.events(one))[s.text(object)]
		if diff := cmp.Diff(want, got); diff != "" {
			s.t.Errorf("%s: the changes of %s are not those that were meant (-), but (+):\n%s", one.Actor, object, diff)
		}
	})
}

// named is the configuration of a thing.
func named(label string, body ...string) string {
	return fmt.Sprintf("resource \"fx_thing\" %q {\n  name = %q\n  %s\n}\n", label, label, strings.Join(body, "\n  "))
}

// objectFile is where a side keeps a thing.
func (s *told) objectFile(one *side, name string) string {
	return filepath.Join(one.objects, s.fixture+"_thing", "nowhere%2F"+name+".json")
}

// objectText is what the fixture provider knows of a thing; empty if there is no
// such thing.
func objectText(s *told, one *side, name string) string {
	s.t.Helper()
	text, err := os.ReadFile(s.objectFile(one, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	return string(text)
}
