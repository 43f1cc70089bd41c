// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package acceptance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// layout is one way in which programs lie on a machine.
type layout struct {
	t *testing.T
	// root is the folder of the programs, dir that of the configuration.
	root, dir string
	// path are the entries of PATH before those of the system, without the real
	// CLI's.
	path []string
	env  []string
}

// file is a path in the layout; the folder is made.
func (l *layout) file(name string) string {
	l.t.Helper()
	path := filepath.Join(l.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		l.t.Fatal(err)
	}
	return path
}

// script puts a shell script somewhere; it writes its name to the record of who
// was called, and goes on with the given lines.
func (l *layout) script(name, lines string) {
	l.t.Helper()
	text := fmt.Sprintf("#!/bin/sh\necho %s >> '%s'\n%s\n", name, l.record(), lines)
	if err := os.WriteFile(l.file(name), []byte(text), 0o700); err != nil {
		l.t.Fatal(err)
	}
}

// real puts a script that hands over to the real CLI somewhere.
func (l *layout) real(name string) { l.t.Helper(); l.script(name, "exec '"+shared.CLI.Path+"' \"$@\"") }

// link puts a symbolic link to a program somewhere.
func (l *layout) link(name, to string) {
	l.t.Helper()
	if err := os.Symlink(to, l.file(name)); err != nil {
		l.t.Fatal(err)
	}
}

// write puts a file that is no script somewhere.
func (l *layout) write(name, text string, mode os.FileMode) {
	l.t.Helper()
	if err := os.WriteFile(l.file(name), []byte(text), mode); err != nil {
		l.t.Fatal(err)
	}
}

// copyOf puts a copy of a program somewhere, another file with the same content.
func (l *layout) copyOf(name, from string) {
	l.t.Helper()
	in, err := os.Open(from)
	if err != nil {
		l.t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(l.file(name), os.O_CREATE|os.O_WRONLY, 0o700)
	if err == nil {
		_, err = io.Copy(out, in)
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *layout) record() string { return filepath.Join(l.root, "called") }

// called are the words of the scripts that were called, each once.
func (l *layout) called() string {
	text, err := os.ReadFile(l.record())
	if err != nil {
		return ""
	}
	return words(string(text))
}

// times is how many scripts were called in all.
func (l *layout) times() int {
	text, err := os.ReadFile(l.record())
	if err != nil {
		return 0
	}
	return strings.Count(string(text), "\n")
}

// environment has the layout's PATH, and no CLI that is named.
func (l *layout) environment() []string {
	var path []string
	for _, p := range l.path {
		if strings.HasPrefix(p, "!") { // as it is
			path = append(path, p[1:])
		} else {
			path = append(path, filepath.Join(l.root, p))
		}
	}
	env := []string{"PATH=" + strings.Join(append(path, "/usr/bin", "/bin"), ":"), lab.EnvTerraform + "="}
	for _, e := range l.env {
		env = append(env, strings.ReplaceAll(e, "ROOT", l.root))
	}
	return env
}

// systemHasNone fails where the machine has a CLI in the folders
// that every layout needs for its shell.
func systemHasNone(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"/usr/bin", "/bin"} {
		for _, name := range []string{"terraform", "tofu"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				t.Fatalf("this test needs a machine without %s in %s", name, dir)
			}
		}
	}
}

// layoutCase is a layout in which a CLI is to be found.
type layoutCase struct {
	make func(l *layout)
	// called are the scripts that have to be called; none for a layout whose CLI is
	// no script.
	called string
}

// TestC43FindsTheRealCLI: each layout that version managers, pipelines and people make,
// with real processes: which program was run is known from the record of the
// scripts, and by a coordinated run that works.
func TestC43FindsTheRealCLI(t *testing.T) {
	t.Parallel()
	systemHasNone(t)
	b := newBench(t, lab.Setup{Cloud: fast()})
	tests := map[string]layoutCase{
		"plain binary on PATH": {func(l *layout) {
			l.link("bin/terraform", shared.CLI.Path)
			l.path = []string{"bin"}
		}, ""},
		"tfweaver itself first, by a symbolic link": {func(l *layout) {
			l.link("own/terraform", shared.Binaries.Tfweaver)
			l.real("bin/terraform")
			l.path = []string{"own", "bin"}
		}, "bin/terraform"},
		"tfweaver itself first, as a copy": {func(l *layout) {
			l.copyOf("own/terraform", shared.Binaries.Tfweaver)
			l.real("bin/terraform")
			l.path = []string{"own", "bin"}
		}, "bin/terraform"},
		"tfweaver itself first, by a hard link": {func(l *layout) {
			if err := os.Link(shared.Binaries.Tfweaver, l.file("own/terraform")); err != nil {
				l.t.Fatal(err)
			}
			l.real("bin/terraform")
			l.path = []string{"own", "bin"}
		}, "bin/terraform"},
		"a version manager's shim": {func(l *layout) {
			l.real("versions/1.11.4/terraform")
			l.script("shims/terraform", `exec "`+l.root+`/versions/$(cat .terraform-version)/terraform" "$@"`)
			l.path = []string{"shims"}
		}, "shims/terraform versions/1.11.4/terraform"},
		"a shim that starts the CLI as its child": {func(l *layout) {
			l.real("versions/1.11.4/terraform")
			l.script("shims/terraform", `"`+l.root+`/versions/1.11.4/terraform" "$@"`+"\nexit $?")
			l.path = []string{"shims"}
		}, "shims/terraform versions/1.11.4/terraform"},
		"named with a version in its name": {func(l *layout) {
			l.script("bin/terraform", "exit 3")
			l.real("bin/terraform1.11.4")
			l.path, l.env = []string{"bin"}, []string{lab.EnvTerraform + "=terraform1.11.4"}
		}, "bin/terraform1.11.4"},
		"named by an absolute path with blanks": {func(l *layout) {
			l.script("bin/terraform", "exit 3")
			l.real("my tools/of mine/terraform1.11.4")
			l.path, l.env = []string{"bin"}, []string{lab.EnvTerraform + "=ROOT/my tools/of mine/terraform1.11.4"}
		}, "my tools/of mine/terraform1.11.4"},
		"named by a relative path": {func(l *layout) {
			l.script("bin/terraform", "exit 3")
			if err := os.Symlink(l.root, filepath.Join(l.dir, "tools")); err != nil {
				l.t.Fatal(err)
			}
			l.real("bin/terraform1.11.4")
			l.path, l.env = []string{"bin"}, []string{lab.EnvTerraform + "=tools/bin/terraform1.11.4"}
		}, "bin/terraform1.11.4"},
		"PATH with entries that lead nowhere": {func(l *layout) {
			l.script("closed/terraform", "exit 3")
			if err := os.Chmod(filepath.Join(l.root, "closed"), 0o000); err != nil {
				l.t.Fatal(err)
			}
			l.t.Cleanup(func() { _ = os.Chmod(filepath.Join(l.root, "closed"), 0o700) })
			l.real("bin/terraform")
			l.path = []string{"!", "!.", "!bin", "nowhere", "bin"}
			if os.Geteuid() != 0 { // the superuser may enter
				l.path = append([]string{"closed"}, l.path...)
			}
		}, "bin/terraform"},
		"a file that is not executable": {func(l *layout) {
			l.write("early/terraform", "#!/bin/sh\nexit 3\n", 0o600)
			l.real("bin/terraform")
			l.path = []string{"early", "bin"}
		}, "bin/terraform"},
		"a folder of that name": {func(l *layout) {
			l.write("early/terraform/main.tf", "", 0o600)
			l.real("bin/terraform")
			l.path = []string{"early", "bin"}
		}, "bin/terraform"},
		"only tofu": {func(l *layout) {
			l.real("bin/tofu")
			l.path = []string{"bin"}
		}, "bin/tofu"},
		"both": {func(l *layout) {
			l.script("early/tofu", "exit 3")
			l.real("bin/terraform")
			l.path = []string{"early", "bin"}
		}, "bin/terraform"},
		"both, and tofu is named": {func(l *layout) {
			l.script("bin/terraform", "exit 3")
			l.real("bin/tofu")
			l.path, l.env = []string{"bin"}, []string{lab.EnvTerraform + "=tofu"}
		}, "bin/tofu"},
		"a script that prints text of its own": {func(l *layout) {
			l.script("bin/terraform", "echo '[command] {terraform}'\n'"+shared.CLI.Path+"' \"$@\"\ncode=$?\necho '::debug::exit code {0}'\nexit $code")
			l.path = []string{"bin"}
		}, "bin/terraform"},
		"a project's version in Atlantis": {func(l *layout) {
			l.script("bin/terraform", "exit 3")
			l.real("atlantis/terraform1.11.4")
			l.path, l.env = []string{"bin", "atlantis"}, []string{"ATLANTIS_TERRAFORM_VERSION=1.11.4"}
		}, "atlantis/terraform1.11.4"},
	}
	if shared.CLI.Product == "Terraform" { // the action installs nothing else
		tests["the script of setup-terraform"] = layoutCase{func(l *layout) {
			l.script("bin/terraform", "echo the output of all calls is published; exit 3")
			l.link("bin/terraform-bin", shared.CLI.Path)
			l.path = []string{"bin"}
		}, ""}
	}
	for n, name := range slices.Sorted(maps.Keys(tests)) {
		tt := tests[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := b.within(t)
			w, l := b.laidOut(n)
			tt.make(l)
			w.Env = l.environment()
			b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
			if got := l.called(); got != words(tt.called) {
				t.Errorf("called %q, want %q", got, words(tt.called))
			}
			if got, err := w.Resources(b.ctx); err != nil || len(got) == 0 {
				t.Errorf("nothing was applied: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		if log := b.log(); len(log.Operations) == 0 || len(log.Refused) != 0 {
			t.Errorf("%d operations, %d refusals in the cloud", len(log.Operations), len(log.Refused))
		}
	})
}

// laidOut is a configuration, and a folder for programs.
func (b *bench) laidOut(n int) (*lab.Workspace, *layout) {
	b.t.Helper()
	actor := fmt.Sprintf("l%d", n)
	w := b.workspace(actor, strings.ReplaceAll(group(), "shared", "shared-"+actor))
	l := &layout{t: b.t, root: filepath.Join(b.TempDir(), actor), dir: w.Dir}
	if err := os.MkdirAll(l.root, 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := w.Write(".terraform-version", "1.11.4"); err != nil {
		b.t.Fatal(err)
	}
	return w, l
}

// TestC43NoCLI: where there is no CLI that can be run, the run ends with the exit
// code of a shell and says what to do, and no process is left behind.
func TestC43NoCLI(t *testing.T) {
	t.Parallel()
	systemHasNone(t)
	b := newBench(t, lab.Setup{Cloud: fast()})
	tests := map[string]struct {
		make func(l *layout)
		code int
		says []string
	}{
		"no binary at all": {func(l *layout) { l.path = []string{"nowhere"} }, 127, []string{"No Terraform or OpenTofu CLI found", "install it", lab.EnvTerraform}},
		"only in a relative entry of PATH": {func(l *layout) {
			if err := os.WriteFile(filepath.Join(l.dir, "terraform"), []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
				l.t.Fatal(err)
			}
			l.path = []string{"!.", "!"}
		}, 127, []string{"relative are not searched"}},
		"only a file that is not executable": {func(l *layout) {
			l.write("bin/terraform", "", 0o600)
			l.path = []string{"bin"}
		}, 126, []string{"bin/terraform", "chmod +x"}},
		"a name that nothing has": {func(l *layout) { l.env = []string{lab.EnvTerraform + "=terraform9"} }, 127, []string{"terraform9", "correct " + lab.EnvTerraform}},
		"a path to nothing":       {func(l *layout) { l.env = []string{lab.EnvTerraform + "=ROOT/none/terraform"} }, 127, []string{"none/terraform", "correct " + lab.EnvTerraform}},
		"a path to a folder":      {func(l *layout) { l.env = []string{lab.EnvTerraform + "=ROOT"} }, 126, []string{"it is a folder"}},
		"a path to tfweaver": {func(l *layout) {
			l.copyOf("bin/terraform", shared.Binaries.Tfweaver)
			l.env = []string{lab.EnvTerraform + "=ROOT/bin/terraform"}
		}, 78, []string{"tfweaver itself"}},
		"a damaged binary": {func(l *layout) {
			l.write("bin/terraform", "\x7fELF and nothing more", 0o700)
			l.path = []string{"bin"}
		}, 126, []string{"bin/terraform", "damaged", lab.EnvTerraform}},
		"a script whose interpreter is not there": {func(l *layout) {
			l.write("bin/terraform", "#!/nonexistent/interpreter\n", 0o700)
			l.path = []string{"bin"}
		}, 126, []string{"bin/terraform", "first line"}},
		"a shim that comes back to tfweaver in its place": {func(l *layout) {
			l.script("bin/terraform", "exec '"+shared.Binaries.Tfweaver+"' \"$@\"")
			l.path = []string{"bin"}
		}, 78, []string{"calls tfweaver again", lab.EnvTerraform}},
		"a shim that starts tfweaver": {func(l *layout) {
			l.script("bin/terraform", "'"+shared.Binaries.Tfweaver+"' \"$@\"\nexit $?")
			l.path = []string{"bin"}
		}, 78, []string{"calls tfweaver again", lab.EnvTerraform}},
	}
	for n, name := range slices.Sorted(maps.Keys(tests)) {
		tt := tests[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := b.within(t)
			w, l := b.laidOut(n)
			tt.make(l)
			w.Env = l.environment()
			for _, args := range [][]string{{"version", "-json"}, {"apply", "-auto-approve"}, {"-help"}} {
				run := b.tfweaver(w, tt.code, args...)
				said := unwrapped(run.Stderr())
				for _, words := range tt.says {
					if !strings.Contains(said, words) {
						t.Errorf("%s does not say %q: %s", run.Name, words, said)
					}
				}
				if run.Stdout() != "" || strings.Count(said, "Error: ") != 1 {
					t.Errorf("%s says more than one error: %s%s", run.Name, run.Stdout(), said)
				}
			}
			if called := l.times(); called > 3*8 {
				t.Errorf("the shim was called %d times", called)
			}
		})
	}
	t.Cleanup(func() {
		if log := b.log(); len(log.Operations)+len(log.Refused) != 0 {
			t.Errorf("something was sent to the cloud")
		}
	})
}

// TestC43PassesThrough: what programs that run the CLI ask of it is answered by
// the CLI alone, byte for byte: Terragrunt with its variables set asks for the
// version by an option, Atlantis in a script of its own.
func TestC43PassesThrough(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.workspace("caller", group()+"output \"location\" {\n  value = \"westeurope\"\n}\n")
	b.terraform(w, 0, "apply", "-auto-approve")
	w.Env = []string{
		"TG_TF_PATH=" + shared.Binaries.Tfweaver, "TERRAGRUNT_TFPATH=" + shared.Binaries.Tfweaver,
		"TF_IN_AUTOMATION=true", "ATLANTIS_TERRAFORM_VERSION=1.11.4",
	}
	for _, args := range [][]string{
		{"version", "-json"},
		{"version"},
		{"-version"},
		{"--version"},
		{"-v"},
		{"output", "-json"},
		{"output", "-raw", "location"},
		{"show", "-json"},
		{"state", "pull"},
		{"providers", "schema", "-json"},
		{"workspace", "show"},
		{"validate", "-json"},
		{"fmt", "-check"},
		{"no-such-command"},
		{"state", "show", "nothing.there"},
	} {
		run, err := w.Terraform(b.ctx, args...)
		if err != nil {
			t.Fatal(err)
		}
		woven := b.tfweaver(w, run.ExitCode, args...)
		if woven.Stdout() != run.Stdout() || woven.Stderr() != run.Stderr() {
			t.Errorf("%s differs:\n%s%s", strings.Join(args, " "), woven.Stdout(), woven.Stderr())
		}
	}
	var answer struct {
		Version string `json:"terraform_version"`
	}
	if err := json.Unmarshal([]byte(b.tfweaver(w, 0, "version", "-json").Stdout()), &answer); err != nil || answer.Version != shared.CLI.Version {
		t.Errorf("version -json: %+v, %v", answer, err)
	}
}

// words are the different words of a text, sorted.
func words(text string) string {
	list := strings.Fields(text)
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}
