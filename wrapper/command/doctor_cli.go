// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/tfweaver/tfweaver/wrapper/module"
	"github.com/tfweaver/tfweaver/wrapper/remote"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
)

// Groups of checks.
const (
	groupPrograms = "Programs"
	groupFolder   = "Working folder"
	groupProvider = "Providers"
	groupRules    = "Rules"
	groupCoord    = "Coordination"
	groupPlaces   = "Files of runs"
	groupIdentity = "Who you are"
)

func (d *doctor) program() {
	d.fine(groupPrograms, "tfweaver", fmt.Sprintf("%s, %s, %s/%s", d.Version, d.app.Self, runtime.GOOS, runtime.GOARCH),
		"version", d.Version, "path", d.app.Self)
	if d.inv.Weaver.Off {
		d.doubt(groupPrograms, "switched off", "Nothing is coordinated: "+d.offBy()+" says so.", "Take it out, or set it otherwise, to coordinate runs.")
	}
}

// offBy is what switches coordination off.
func (d *doctor) offBy() string {
	w := d.inv.Weaver
	return orElse(w.From["off"], orElse(w.From["mode"], d.settingsLine("mode")))
}

// cli finds the CLI and asks it for its version.
func (d *doctor) cli(ctx context.Context) {
	binary, err := terraform.Find(d.app.Env, d.app.Self)
	if err != nil {
		var missing *terraform.NotFoundError
		if errors.As(err, &missing) {
			d.fail(groupPrograms, "CLI", sentence(strings.TrimSuffix(missing.Error(), "; "+missing.Remedy)), sentence(missing.Remedy))
			return
		}
		d.fail(groupPrograms, "CLI", sentence(err.Error()), "Set "+terraform.PathVariable+" to the path of the CLI.")
		return
	}
	d.binary = binary
	ctx, cancel := context.WithTimeout(ctx, consultation)
	defer cancel()
	p := terraform.Process{
		// Asked whether there is a newer version the CLI would write that down.
		Path: binary.Path, Env: terraform.Deeper(d.app.Env).With("CHECKPOINT_DISABLE", "1").Without("TF_CLI_ARGS", "TF_CLI_ARGS_version"),
		Dir: d.app.Dir,
	}
	product, v, err := p.Identify(ctx, binary.Product)
	if err != nil {
		d.fail(groupPrograms, "CLI", sentence(binary.Path+" does not tell its version: "+err.Error()),
			"Run \""+binary.Path+" version\" to see why, or set "+terraform.PathVariable+" to the path of another CLI.", "path", binary.Path)
		return
	}
	d.binary.Product = product
	facts := []string{"path", binary.Path, "product", string(product), "version", v.String()}
	found := fmt.Sprintf("%s %s, %s%s", product, v, binary.Path, d.namedBy())
	if oldest := terraform.Oldest(product); v.Core().LessThan(version.Must(version.NewVersion(oldest))) {
		d.doubt(groupPrograms, "CLI", found+"; older than what tfweaver is made for", fmt.Sprintf("Install %s %s or newer.", product, oldest), facts...)
		return
	}
	d.fine(groupPrograms, "CLI", found, facts...)
}

// cliConfig tells of a configuration file of the CLI that somebody names and that is
// not there: the CLI goes without it, and so without its mirrors and credentials.
func (d *doctor) cliConfig() {
	for _, name := range []string{"TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"} {
		file := d.app.Env.Get(name)
		if file == "" {
			continue
		}
		if _, err := os.Stat(d.app.path(file)); err != nil {
			d.doubt(groupPrograms, "CLI settings", fmt.Sprintf("%s names %s: %v. The CLI goes without it.", name, file, reasonOf(err)),
				"Correct "+name+", or unset it.", "path", file)
		}
		return
	}
}

// namedBy says what selects the CLI, where that is not PATH alone.
func (d *doctor) namedBy() string {
	switch {
	case d.app.Env.Get(terraform.PathVariable) != "":
		return " (" + terraform.PathVariable + " names it)"
	case d.app.Env.Get("ATLANTIS_TERRAFORM_VERSION") != "":
		return " (Atlantis selects it)"
	default:
		return ""
	}
}

// folder looks at the configuration and its state.
func (d *doctor) folder(ctx context.Context) {
	info, err := os.Stat(d.Dir)
	if err == nil && !info.IsDir() {
		err = errNoFolder
	}
	if err != nil {
		d.fail(groupFolder, "folder", sentence(d.Dir+": "+reasonOf(err).Error()), "Correct -chdir, or change to another folder.")
		return
	}
	state := d.inv.Options(d.app.Env).State
	d.workdir, err = terraform.Examine(d.app.Dir, d.inv.Chdir(), d.app.Env, state, d.app.System.Host)
	if err != nil {
		d.fail(groupFolder, "folder", sentence(err.Error()), "Make the files readable, or run \""+d.command("init -reconfigure")+"\".")
		return
	}
	d.tree = module.Read(d.workdir.Root, d.workdir.DataDir, d.binary.Product == terraform.OpenTofu)
	d.configuration()
	d.backend()
	d.execution(ctx)
}

func (d *doctor) configuration() {
	t := d.tree
	if t.Files == 0 && len(t.Mistakes) == 0 {
		d.doubt(groupFolder, "configuration", "There is none: no *.tf in "+d.workdir.Root+".", "Change to the folder of a root module, or name it with -chdir=FOLDER.")
		return
	}
	for _, mistake := range t.Mistakes[:min(len(t.Mistakes), 5)] {
		d.fail(groupFolder, "configuration", sentence(mistake.Error()), "Run \""+d.command("validate")+"\" and correct it.")
	}
	if len(t.Mistakes) == 0 {
		d.fine(groupFolder, "configuration", fmt.Sprintf("%s in %s", quantity(t.Files, "file"), quantity(max(t.Modules, 1), "module")))
	}
	if len(t.Missing) > 0 {
		d.doubt(groupFolder, "modules", "Not installed: "+strings.Join(t.Missing, ", ")+".", "Run \""+d.command("init")+"\".")
	}
}

func (d *doctor) backend() {
	w := d.workdir
	found := fmt.Sprintf("backend %s, workspace %s", w.Backend, w.Workspace)
	facts := []string{"backend", w.Backend, "workspace", w.Workspace, "state", w.Origin}
	if asked := d.tree.Backend; asked != "" && asked != w.Backend {
		d.doubt(groupFolder, "state", fmt.Sprintf("The configuration asks for the backend %q, and the folder is set up for %q.", asked, w.Backend),
			"Run \""+d.command("init")+"\".", facts...)
		return
	}
	d.fine(groupFolder, "state", found+"; runs on it are told apart as "+w.Origin, facts...)
}

// execution says where the runs of a cloud workspace happen.
func (d *doctor) execution(ctx context.Context) {
	if !d.workdir.Remote() {
		return
	}
	mode, w, err := d.app.execution(ctx, d.workdir, d.binary.Product)
	facts := []string{"workspace", w.String(), "host", w.Host, "execution", string(mode)}
	switch mode {
	case remote.Local:
		d.fine(groupFolder, "execution", fmt.Sprintf("local: runs of %s happen here, and are coordinated", w), facts...)
	case remote.Unknown:
		reason := "it does not say"
		if err != nil {
			reason = err.Error()
		}
		d.doubt(groupFolder, "execution", "Not known: "+reason+".",
			fmt.Sprintf("Run \"%s\", if there is no token for %s. A run tells afterwards whether it happened here.", d.command("login "+w.Host), w.Host), facts...)
	default:
		d.doubt(groupFolder, "execution", elsewhereText(mode, w), "Use a run task of the workspace, or set its execution mode to \"local\".", facts...)
	}
}

func quantity(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
