// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// refusedBeforeStart expects that a run ends with an exit code, says all of the
// words, and sends nothing to the cloud.
func (b *bench) refusedBeforeStart(w *lab.Workspace, code int, words ...string) {
	b.t.Helper()
	run := b.tfweaver(w, code, "apply", "-auto-approve", "-no-color")
	said := unwrapped(run.Stderr())
	for _, word := range words {
		if !strings.Contains(said, word) {
			b.t.Errorf("the error does not name %q", word)
		}
	}
	if n := strings.Count(run.Stderr(), "Error: "); n != 1 {
		b.t.Errorf("%d errors, want exactly one", n)
	}
	if log := b.log(); len(log.Operations)+len(log.Refused)+len(log.NoOps) != 0 {
		b.t.Errorf("something was sent to the cloud")
	}
}

// unwrapped undoes the line breaks and the frames of boxed errors.
func unwrapped(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\u2502", " ")), " ")
}

// TestBadInputMissingInit: nothing was installed.
func TestBadInputMissingInit(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.workspaceOf(b.Uninitialised("alone", lab.Preamble+group()))
	b.refusedBeforeStart(w, 1, "init", "tfweaver/simcloud")
}

// TestBadInputUnknownProvider: a provider was added after init.
func TestBadInputUnknownProvider(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.workspace("alone", group())
	if err := w.Write("more.tf", "resource \"nobody_thing\" \"x\" {\n}\n"); err != nil {
		t.Fatal(err)
	}
	b.refusedBeforeStart(w, 1, "init", "nobody")
}

// TestBadInputBrokenPack: a rule pack that does not parse.
func TestBadInputBrokenPack(t *testing.T) {
	t.Parallel()
	packs := t.TempDir()
	b := newBench(t, lab.Setup{Cloud: fast(), Env: []string{"TFWEAVER_RULES=" + packs}})
	w := b.workspace("alone", group())
	if err := os.WriteFile(filepath.Join(packs, "broken.hcl"), []byte("pack \"simcloud\" {\n  this is no pack\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.refusedBeforeStart(w, 78, "Broken rule pack", "broken.hcl:2", "TFWEAVER_RULES")
}

// TestBadInputCoordinatorUnreachable: the coordinator that was asked for is not
// there. Going on without one would be worse than stopping.
func TestBadInputCoordinatorUnreachable(t *testing.T) {
	t.Parallel()
	socket := "unix://" + filepath.Join(t.TempDir(), "nobody.sock")
	b := newBench(t, lab.Setup{Cloud: fast(), Env: []string{"TFWEAVER_COORDINATOR=" + socket}})
	w := b.workspace("alone", group())
	b.refusedBeforeStart(w, 78, socket, "tfweaver serve")
}

// TestBadInputNoRulesThere: the folder of rule packs is not there.
func TestBadInputNoRulesThere(t *testing.T) {
	t.Parallel()
	packs := filepath.Join(t.TempDir(), "nowhere")
	b := newBench(t, lab.Setup{Cloud: fast(), Env: []string{"TFWEAVER_RULES=" + packs}})
	b.refusedBeforeStart(b.workspace("alone", group()), 78, packs)
}

// TestBadInputNoStateFolder: the coordinator of this user cannot be started.
func TestBadInputNoStateFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, lab.Setup{Cloud: fast(), Env: []string{"XDG_STATE_HOME=" + file}})
	b.refusedBeforeStart(b.workspace("alone", group()), 78, file, "-weaver-off")
}

// TestBadInputUnknownOption: an option that tfweaver does not have.
func TestBadInputUnknownOption(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	run := b.tfweaver(b.workspace("alone", group()), 78, "apply", "-auto-approve", "-weaver-objective=x")
	if said := unwrapped(run.Stderr()); !strings.Contains(said, "-weaver-objective") {
		t.Errorf("the error does not name the option")
	}
	if n := len(b.log().Operations); n != 0 {
		t.Errorf("%d operations were sent to the cloud", n)
	}
}
