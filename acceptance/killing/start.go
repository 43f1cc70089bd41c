// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"context"
	"fmt"
	"strings"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// arguments are those of a session's run.
func (p *play) arguments(name string) []string {
	args := []string{"apply", "-no-color", "-weaver-lease=" + lease.String(), "-weaver-wait=" + waitLimit.String(), "-weaver-intent=work-of-" + name}
	if name != p.round.Victim || p.round.Moment != Asking {
		args = append(args, "-auto-approve")
	}
	if p.round.Kind == Daemon {
		args = append(args, "-weaver-coordinator="+p.e.DaemonAddress())
	}
	return args
}

// start starts a session's run, the victim's so that it can be hit.
func (p *play) start(ctx context.Context, name string) (err error) {
	w, args := p.spaces[name], p.arguments(name)
	if name != p.round.Victim {
		p.runs[name], err = w.StartTfweaver(ctx, args...)
		return err
	}
	if p.round.Moment == Connecting {
		if err := p.freeze(); err != nil {
			return err
		}
	}
	if p.round.Kind.atTerminal() {
		if p.terminal, err = w.StartInTerminal(ctx, true, p.script(args), p.shell()...); err == nil {
			p.runs[name] = p.terminal.Run
		}
		return err
	}
	if p.handled, err = w.HandleTfweaver(ctx, args...); err == nil {
		p.runs[name] = p.handled.Run
	}
	return err
}

// stoppedFile is what the shell makes in the workspace when the run was stopped.
const stoppedFile = "stopped"

// script is what the shell in the terminal runs. Where the run is stopped it is
// continued after the round's gap, each time.
func (p *play) script(args []string) string {
	const stopped = 128 + 20 // SIGTSTP
	return fmt.Sprintf(`"$%s" %s; status=$?
while [ "$status" = %d ]; do touch %s; sleep %.2f; fg; status=$?; done
exit "$status"`, lab.EnvCLI, strings.Join(args, " "), stopped, stoppedFile, p.round.Gap.Seconds())
}

// shell gives tfweaver a process group of its own, as at a prompt, or not.
func (p *play) shell() []string {
	if p.round.Kind == CtrlCInScript {
		return []string{"bash", "--norc", "-c"}
	}
	return []string{"bash", "--norc", "-m", "-c"}
}
