// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/tfweaver/tfweaver/wrapper/gatekeeper"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// What others are shown of a run before its first call.
const (
	phaseTurn     = "waiting for the state"
	phasePlanning = "planning"
)

// courtesy bounds how long the coordinator is told that the state is free: the end
// of the session, a moment later, says so as well.
const courtesy = 3 * time.Second

// turn runs the command once its turn on the state has come. It is over with the
// command: what is left to be found out afterwards needs no state.
func (r *run) turn(ctx context.Context) (int, error) {
	if ok, code, err := r.enterState(ctx); !ok {
		return code, err
	}
	code, err := r.act(ctx)
	r.leaveState(ctx)
	return code, err
}

// locksState says whether the CLI holds the lock of the state during the
// command, here. Where the operation may run elsewhere, whoever runs it has a
// queue of its own.
func (r *run) locksState() bool {
	switch r.inv.Command {
	case "apply", "destroy", "plan", "refresh", "import":
		return r.opts.Lock && !r.elsewhere()
	default:
		return false
	}
}

// enterState waits for the other runs on the same state. ok is false when the
// run ends here. A signal ends the waiting.
func (r *run) enterState(ctx context.Context) (ok bool, code int, err error) {
	if !r.locksState() {
		return true, 0, nil
	}
	waited, begun := false, time.Now()
	entering, stop := r.app.interruptible(ctx)
	defer stop()
	err = r.gate.EnterState(entering, gatekeeper.State{
		Origin: r.workdir.Origin, Folder: folderName(r.workdir.Root), Workspace: r.workdir.Workspace,
		Waits: func() { waited = true; r.session.SetPhase(phaseTurn) },
	})
	if cause := context.Cause(entering); cause != nil {
		return false, 0, cause
	}
	if waited && err == nil {
		r.waited = time.Since(begun)
		r.session.SetPhase(phasePlanning)
	}
	var refusal *intercept.Refusal
	if errors.As(err, &refusal) {
		r.view.Problem(views.Problem{Summary: refusal.Summary, Detail: refusal.Detail})
		return false, r.refused(), nil
	}
	return err == nil, ExitError, err
}

// leaveState lets the next run have the state as soon as the CLI has let go of
// it.
func (r *run) leaveState(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), courtesy)
	defer cancel()
	r.gate.LeaveState(ctx)
}

// folderName is what people know a root module's folder by: its own name and
// that of the folder around it.
func folderName(root string) string {
	parent := filepath.Base(filepath.Dir(root))
	if parent == "." || parent == string(filepath.Separator) {
		return filepath.Base(root)
	}
	return parent + "/" + filepath.Base(root)
}
