// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// small crosses the proxy with one object, and has a variable and an output.
func small() string {
	return `variable "team" {
  type    = string
  default = "net"
}

output "team" {
  value = var.team
}
` + group() + network("net", "team = var.team")
}

// applied is a line that tfweaver adds its own to.
func applied(args ...string) line { return cli(args...).coordinated() }

// TestParityOfVariables: what the environment says.
func TestParityOfVariables(t *testing.T) {
	t.Parallel()
	p := newTwins(t, lab.Setup{Cloud: quick()}, small())
	p.same(
		cli("plan").with("TF_CLI_ARGS=-no-color", "TF_CLI_ARGS_plan=-var='team=a b' -compact-warnings -detailed-exitcode").exits(2),
		cli("plan").with("TF_CLI_ARGS=-none").exits(1), cli("plan").with("TF_CLI_ARGS=\"open").exits(1), applied("apply").with("TF_CLI_ARGS_apply='open").exits(1),
		cli("plan").with("TF_VAR_team=x", "NO_COLOR=1"), cli("plan", "-no-color").with("TF_IN_AUTOMATION=1"),
		cli("plan", "-no-color", "-out=p").coordinated().with("TF_IN_AUTOMATION=1"), cli("plan", "-no-color", "-out=p").coordinated(),
		applied("apply", "-parallelism=2").with("TF_CLI_ARGS_apply=-auto-approve -var=\"team=a b\" -refresh=false", "TF_CLI_ARGS=-no-color", "TF_CLI_ARGS_plan=-destroy").saying(`team = "a b"`),
		applied("apply").with("TF_CLI_ARGS_apply=p").exits(1).saying("stale"),
		applied("apply", "-auto-approve").with("TF_VAR_team=y", "TF_IN_AUTOMATION=1", "NO_COLOR=1").saying(`team = "y"`),
		applied("apply", "-auto-approve", "-var-file=some.tfvars").saying("some.tfvars").exits(1),
	)
	p.write("some.tfvars", "team = \"file\"\n")
	p.write("one.auto.tfvars", "team = \"auto\"\n")
	p.same(
		applied("apply", "-auto-approve").saying(`team = "auto"`), applied("apply", "-auto-approve", "-var-file=some.tfvars").saying(`team = "file"`),
		applied("apply").with("TF_INPUT=0").reading("yes\n"), applied("apply").with("TF_INPUT=no-bool", "TF_VAR_team=z"),
		cli("workspace", "new", "second"),
		cli("plan").with("TF_WORKSPACE=default"), cli("plan", "-no-color").with("TF_WORKSPACE=second"), cli("plan", "-no-color").with("TF_WORKSPACE=not-there"),
		cli("workspace", "select", "default").with("TF_WORKSPACE=second").exits(1),
		applied("apply", "-no-color").with("TF_WORKSPACE=second").reading("no\n").exits(1).saying("second"),
		cli("plan", "-no-color").with("BALLAST="+strings.Repeat("tfweaver ", 100<<10/9)),
		applied("apply", "-auto-approve").with("BALLAST="+strings.Repeat("tfweaver ", 100<<10/9), "TF_WORKSPACE=default"),
		applied("destroy").with("TF_CLI_ARGS_destroy=-auto-approve -target=simcloud_virtual_network.net -lock=false", "TF_WORKSPACE=default", "TF_CLI_ARGS=-lock-timeout=3s").warning(),
	)
}

// TestParityOfFolders: where things lie.
func TestParityOfFolders(t *testing.T) {
	t.Parallel()
	p := newBareTwins(t, lab.Setup{Cloud: quick()}, "# Nothing is here.\n")
	const folder = "größe und raum"
	p.write(filepath.Join(folder, "main.tf"), lab.Preamble+small())
	// Two inits must not share a cache at a time.
	cached := func(w *twin, cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "TF_PLUGIN_CACHE_DIR="+w.Home()) }
	in := "-chdir=" + folder
	p.same(
		cli(in, "init", "-no-color").as(cached), cli(in, "plan"), cli(in, "plan", "-out=p q").coordinated(), cli(in, "show", "-no-color", "p q"),
		applied(in, "apply", "p q"), cli(in, "output", "-json"), cli(in, "plan", "-detailed-exitcode").as(cached),
		applied(in, "apply", "-auto-approve", "-state-out=third", "-backup=fourth", "-var=team=b"), cli(in, "state", "list", "-state=third"),
		applied(in, "destroy", "-auto-approve"), applied(in, "apply", "-auto-approve", "-state=other state").warning(), cli(in, "state", "list", "-state=other state"),
		applied(in, "destroy", "-auto-approve", "-state=other state").warning(),
		cli("-chdir=none", "plan").exits(1), cli("-chdir", folder, "plan").exits(1), cli("-chdir=", "plan").exits(1), applied("-chdir=none", "apply").exits(1),
		cli("plan"), applied("apply", "-auto-approve"), cli("-chdir=.", "plan"),
		cli(in, "init").with("TF_DATA_DIR=data"), cli(in, "plan").with("TF_DATA_DIR=data"), applied(in, "apply", "-auto-approve", "-var=team=c").with("TF_DATA_DIR=data"),
		cli(in, "plan").with("TF_DATA_DIR=elsewhere").exits(1), applied(in, "apply", "-auto-approve").with("TF_DATA_DIR=elsewhere").exits(1),
	)
	p.both(func(w *twin) error { return os.RemoveAll(filepath.Join(w.Dir, folder, ".terraform", "providers")) })
	p.same(cli(in, "plan").exits(1), applied(in, "apply", "-auto-approve").exits(1), cli(in, "init", "-no-color").as(cached), cli(in, "plan").as(cached))
}

// cliName is the name under which the CLI is looked for.
func cliName() string {
	if shared.CLI.Product == "OpenTofu" {
		return "tofu"
	}
	return "terraform"
}
