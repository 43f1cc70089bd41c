// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/tfweaver/tfweaver/internal/version"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/module"
	"github.com/tfweaver/tfweaver/wrapper/settings"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// errUnwell ends "tfweaver doctor" with the exit code of an error. Everything was
// said by then.
var errUnwell = errors.New("something fails")

// consultation bounds each question that the doctor asks of somebody else.
const consultation = 5 * time.Second

// doctor looks at everything that a run depends on. It makes nothing and changes
// nothing, starts no provider and no coordinator, and opens no session.
type doctor struct {
	app *App
	inv arguments.Invocation
	// shared is the content of the settings file, as far as it is usable.
	shared settings.Settings
	// binary is the zero value where there is no CLI.
	binary  terraform.Binary
	workdir terraform.Workdir
	tree    module.Tree
	// free says how many bytes may still be written to a folder, and whether that is
	// known.
	free func(dir string) (bytes uint64, known bool)
	views.Diagnosis
}

// doctor prints what was found and what to do. It takes part in nothing that a run
// would be stopped by, broken settings above all.
func (a *App) doctor(ctx context.Context, inv arguments.Invocation, c doctorCommand) error {
	d := &doctor{app: a, inv: inv, free: freeBytes, Diagnosis: views.Diagnosis{Version: version.Version, Dir: a.workingDir(inv)}}
	d.examine(ctx)
	if err := d.print(c.JSON); err != nil {
		return err
	}
	if d.Failures > 0 {
		return errUnwell
	}
	return nil
}

func (d *doctor) print(asJSON bool) error {
	if asJSON {
		return writeJSON(d.app.Stdout, d.Diagnosis)
	}
	style := views.Style{
		Width:  columns(d.app.Stdout),
		Colour: isTerminal(d.app.Stdout) && d.app.Env.Get("NO_COLOR") == "",
	}
	_, err := io.WriteString(d.app.Stdout, views.DiagnosisText(d.Diagnosis, style))
	return err
}

// examine looks at one thing after the other. The settings come first, as the rest
// depends on them, and are told where people look for them.
func (d *doctor) examine(ctx context.Context) {
	var settingsErr error
	d.shared, settingsErr = d.app.configure(&d.inv)
	d.program()
	d.cli(ctx)
	d.cliConfig()
	d.folder(ctx)
	d.installed()
	d.rules()
	d.coordination(settingsErr)
	d.coordinator(ctx)
	d.places()
	d.identity()
}

// workingDir is the folder that the CLI works in.
func (a *App) workingDir(inv arguments.Invocation) string {
	chdir := inv.Chdir()
	if filepath.IsAbs(chdir) {
		return filepath.Clean(chdir)
	}
	return filepath.Join(a.Dir, chdir)
}

// fine, doubt and fail add a check. facts are names and values in turn.
func (d *doctor) fine(group, name, found string, facts ...string) {
	d.Add(views.Check{Group: group, Name: name, Level: views.Fine, Found: found, Facts: pairs(facts)})
}

func (d *doctor) doubt(group, name, found, remedy string, facts ...string) {
	d.Add(views.Check{Group: group, Name: name, Level: views.Doubtful, Found: found, Remedy: remedy, Facts: pairs(facts)})
}

func (d *doctor) fail(group, name, found, remedy string, facts ...string) {
	d.Add(views.Check{Group: group, Name: name, Level: views.Failing, Found: found, Remedy: remedy, Facts: pairs(facts)})
}

func pairs(list []string) map[string]string {
	var out map[string]string
	for i := 0; i+1 < len(list); i += 2 {
		if out == nil {
			out = map[string]string{}
		}
		out[list[i]] = list[i+1]
	}
	return out
}

// command is what people type for a command of the CLI.
func (d *doctor) command(args string) string {
	if chdir := d.inv.Chdir(); chdir != "" {
		return "tfweaver -chdir=" + chdir + " " + args
	}
	return "tfweaver " + args
}
