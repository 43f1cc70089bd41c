// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// TestParityWithoutSurroundings: closed streams, and an environment with nothing
// but PATH and HOME.
func TestParityWithoutSurroundings(t *testing.T) {
	t.Parallel()
	p := newTwins(t, lab.Setup{Cloud: quick()}, "")
	p.both(func(w *twin) error {
		return w.Write("main.tf", strings.Replace(lab.Preamble, `provider "simcloud" {}`, `provider "simcloud" {
  endpoint = "`+w.bench.Cloud.Endpoint+`"
}`, 1)+small())
	})
	closed := func(which string) func(*twin, *exec.Cmd) {
		return func(w *twin, cmd *exec.Cmd) {
			cmd.Path = "/bin/sh"
			cmd.Args = append([]string{"sh", "-c", `exec "$0" "$@" ` + which, w.program}, cmd.Args[1:]...)
		}
	}
	path := filepath.Join(t.TempDir(), "bin")
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shared.CLI.Path, filepath.Join(path, cliName())); err != nil {
		t.Fatal(err)
	}
	bare := func(w *twin, cmd *exec.Cmd) {
		cmd.Env = []string{"PATH=" + path + ":/usr/bin:/bin", "HOME=" + w.Home()}
	}
	p.both(func(w *twin) error {
		// The coordinator's folder is the one that is looked at in the end.
		local := filepath.Join(w.Home(), ".local")
		if err := os.Mkdir(local, 0o700); err != nil {
			return err
		}
		return os.Symlink(filepath.Join(w.Home(), "state"), filepath.Join(local, "state"))
	})
	p.same(
		cli("plan").as(bare), applied("apply", "-auto-approve").as(bare), applied("apply", "-var=team=two").as(bare).exits(1), cli("version").as(bare),
		cli("plan", "-var=team=web").as(closed("<&-")), applied("apply", "-var=team=web").as(closed("<&-")).exits(1),
		cli("plan", "-var=team=web").as(closed("2>&-")), applied("apply", "-auto-approve", "-var=team=web").as(closed("<&- 2>&-")), cli("output").as(closed("<&-")),
	)
}

// TestParityUnderTheCLIsName: tfweaver is called "terraform", and a provisioner
// calls that name, to initialise and to apply another folder.
func TestParityUnderTheCLIsName(t *testing.T) {
	t.Parallel()
	p := newTwins(t, lab.Setup{Cloud: quick()}, group()+fmt.Sprintf(`
resource "terraform_data" "caller" {
  depends_on = [simcloud_resource_group.shared]
  provisioner "local-exec" {
    command = "(%[1]s -chdir=inner init -no-color > init.log && %[1]s -chdir=inner apply -no-color -auto-approve > apply.log && %[1]s -chdir=inner plan -no-color -detailed-exitcode > plan.log) 2> errors.log"
  }
}
`, cliName()))
	p.write("inner/main.tf", lab.Preamble+strings.ReplaceAll(group(), "shared", "inner"))
	p.both(func(w *twin) error {
		bin := filepath.Join(w.Home(), "bin")
		if err := os.Mkdir(bin, 0o700); err != nil {
			return err
		}
		if err := os.Symlink(w.program, filepath.Join(bin, cliName())); err != nil {
			return err
		}
		real := filepath.Join(w.Home(), "real")
		if err := os.Mkdir(real, 0o700); err != nil {
			return err
		}
		w.program = filepath.Join(bin, cliName())
		return os.Symlink(shared.CLI.Path, filepath.Join(real, cliName()))
	})
	found := func(w *twin, cmd *exec.Cmd) {
		bin := filepath.Dir(w.program)
		cmd.Env = append(cmd.Env, lab.EnvTerraform+"=", "PATH="+strings.Join([]string{bin, filepath.Join(w.Home(), "real"), os.Getenv("PATH")}, ":"))
	}
	p.same(
		cli("version").as(found), cli("plan").as(found), applied("apply", "-auto-approve").as(found).saying("Creation complete"), cli("state", "list").as(found),
		cli("-chdir=inner", "state", "list").as(found).saying("simcloud_resource_group.inner"), cli("-chdir=inner", "providers").as(found),
	)
	for _, name := range []string{"init.log", "apply.log", "plan.log", "inner/.terraform.lock.hcl"} {
		var texts []string
		p.both(func(w *twin) error {
			text, err := os.ReadFile(filepath.Join(w.Dir, name))
			texts = append(texts, p.normal(w, outcome{Stdout: string(text)}).Stdout)
			return err
		})
		if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
			t.Errorf("%s of terraform (-) and tfweaver (+) differ:\n%s", name, diff)
		}
	}
}
