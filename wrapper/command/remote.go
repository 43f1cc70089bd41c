// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"fmt"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/remote"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// elsewhere says whether the operation may run on another machine, as far as that
// is known: then nothing but the CLI's own way of doing it works.
func (r *run) elsewhere() bool { return r.workdir.Remote() && r.execution != remote.Local }

// operates says whether a command is one that a workspace's execution mode is
// about. The others run here in any mode.
func (r *run) operates() bool {
	switch r.inv.Command {
	case "apply", "destroy", "plan", "refresh":
		return true
	default:
		return false
	}
}

// lookElsewhere finds out where the operation will run, and says so where it is
// certain that it cannot be coordinated.
func (r *run) lookElsewhere(ctx context.Context) {
	if !r.workdir.Remote() || !r.operates() {
		return
	}
	mode, w, err := r.app.execution(ctx, r.workdir, r.binary.Product)
	if err != nil {
		r.log.InfoContext(ctx, "execution mode not known", "workspace", w.String(), "host", w.Host, "error", err)
	}
	r.execution = mode
	if mode == remote.Elsewhere || mode == remote.Agent {
		r.view.Problem(views.Problem{Warning: true, Summary: "This run happens elsewhere", Detail: elsewhereText(mode, w) +
			"\n\nThe place to coordinate it is a run task of the workspace. In the execution mode \"local\" runs happen here, and are coordinated like any others."})
	}
}

func elsewhereText(mode remote.Execution, w remote.Workspace) string {
	return fmt.Sprintf("The workspace %s of %s has the execution mode %q: its providers run on another machine, where nobody can ask before their calls.", w, w.Host, mode)
}

// tellElsewhere says after a run what is true of it: where a provider was reached
// it ran here, and was coordinated like any other.
func (r *run) tellElsewhere() {
	if !r.elsewhere() || !r.mutates() || r.gate.Reached() {
		return
	}
	detail := "No provider call came through tfweaver: this run happened elsewhere."
	if r.execution == remote.Unknown {
		detail = fmt.Sprintf("No provider call came through tfweaver. With the backend %q a run may happen on another machine, where nobody can ask before its calls; "+
			"a run task of the workspace can.", r.workdir.Backend)
	}
	r.view.Problem(views.Problem{Warning: true, Summary: "Nothing was coordinated", Detail: detail})
}

// execution asks where the operations of the folder's workspace run.
func (a *App) execution(ctx context.Context, w terraform.Workdir, product terraform.Product) (remote.Execution, remote.Workspace, error) {
	return remote.Find(ctx, w.DataDir, w.Workspace, remote.Places{
		Env: a.Env, ConfigFile: configFile(a.Env, product), Home: home(a.Env),
	})
}

func home(env arguments.Environment) string {
	return orElse(env.Get("HOME"), env.Get("USERPROFILE"))
}
