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

// largeSize is more than gRPC takes unless told otherwise, by ten times.
const largeSize = 40 << 20

// TestLargeMessages: an object of 40 MB goes to the provider and comes back, over
// both protocols, as without tfweaver.
func TestLargeMessages(t *testing.T) {
	t.Parallel()
	b := newPatientBench(t, lab.Setup{Cloud: fast()}, 3*patience) // every program copies it several times
	w := b.workspaceOf(b.FixtureWorkspace(b.ctx, "large", `
resource "five_thing" "x" {
  name   = "x"
  secret = file("large.txt")
}

resource "six_thing" "x" {
  name   = "x"
  secret = file("large.txt")
}

output "sizes" {
  value = [nonsensitive(length(five_thing.x.secret)), nonsensitive(length(six_thing.x.secret))]
}
`))
	if err := w.Write("large.txt", strings.Repeat("0123456789abcdef", largeSize/16)); err != nil {
		t.Fatal(err)
	}
	b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
	sizes := strings.Join(strings.Fields(b.terraform(w, 0, "output", "-json", "sizes").Stdout()), "")
	if sizes != "[41943040,41943040]" {
		t.Errorf("the objects have sizes %s", sizes)
	}
}

// TestLongTemporaryFolder: sockets have short paths only, so they are elsewhere
// then.
func TestLongTemporaryFolder(t *testing.T) {
	t.Parallel()
	long := filepath.Join(t.TempDir(), strings.Repeat("long-", 40))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := oneThing(b, "long")
	w.Env = append(w.Env, "TMPDIR="+long)
	b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
	left, err := os.ReadDir(long)
	if err != nil || len(left) != 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// TestNoTemporaryFolder: where nothing can be written there are no sockets, and so
// there is no run.
func TestNoTemporaryFolder(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]string{"missing": "gone", "a file": "file"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			b := newBench(t, lab.Setup{Cloud: fast()})
			w := oneThing(b, "nowhere")
			temp := filepath.Join(dir, place)
			w.Env = append(w.Env, "TMPDIR="+temp)
			b.refusedBeforeStart(w, 78, temp, "Nothing was sent")
		})
	}
}

// TestNoCacheFolder: that nothing can be noted is no reason to stop.
func TestNoCacheFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, lab.Setup{Cloud: fast(), Env: []string{"XDG_CACHE_HOME=" + file}})
	run := b.tfweaver(oneThing(b, "nowhere"), 0, "apply", "-auto-approve", "-no-color")
	if strings.Contains(run.Stderr(), file) {
		t.Error("it is even said")
	}
}

// TestPackageFolderThatIsNone: what is in the way of finding a package is left to
// the CLI, which says what it misses.
func TestPackageFolderThatIsNone(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(dir string) error{
		"a file": func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"empty":  func(dir string) error { return os.Mkdir(dir, 0o700) },
		"gone":   func(string) error { return nil },
		"loop":   func(dir string) error { return os.Symlink(dir, dir) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, lab.Setup{Cloud: fast()})
			w := oneThing(b, "spoilt")
			dir := packageOf(b, w, "six", lab.ProviderVersion)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			b.refusedBeforeStart(w, 1, "tfweaver/six", "installed")
			b.terraform(w, 1, "plan", "-no-color")
		})
	}
}
