// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// mayExit are the exit statuses of the victim, as a shell shows them. They are
// those of plain Terraform, but for a hangup, of which that dies.
func (r Round) mayExit() (statuses []int, any bool) {
	const early = 128
	var died []int
	switch r.Kind {
	case Interrupt, InterruptTwice, CtrlC, CtrlCTwice, CtrlCInScript:
		statuses, died = []int{0, 1}, []int{early + 2}
	case Terminate:
		statuses, died = []int{0, 1}, []int{early + 15}
	case Hangup:
		statuses, died = []int{0, 1}, []int{early + 1, early + 15}
	case Quit, CtrlBackslash:
		statuses, died = []int{0, 1, 2}, []int{early + 3}
	case Pipe:
		statuses = []int{0, 1, early + 13}
	case CtrlZ:
		statuses = []int{0}
	default:
		return nil, true
	}
	if r.Moment.early() {
		statuses = append(statuses, died...)
	}
	return statuses, false
}

// judgeVictim: the victim ends with a status that a shell would see of plain
// Terraform, and says success only where everything was made.
func (p *play) judgeVictim() error {
	if p.round.Victim == "" {
		return nil
	}
	status := p.runs[p.round.Victim].Status()
	p.result.Status = status
	if may, any := p.round.mayExit(); !any && !slices.Contains(may, status) {
		p.result.broke("%s ended with status %d, want one of %v", p.round.Victim, status, may)
	}
	if _, err := os.Stat(filepath.Join(p.spaces[p.round.Victim].Dir, stoppedFile)); p.round.Kind == CtrlZ && !p.round.Moment.early() && err != nil {
		p.result.broke("%s was not stopped: %v", p.round.Victim, err)
	}
	if status != 0 {
		return nil
	}
	ids, err := stateIDs(filepath.Join(p.spaces[p.round.Victim].Dir, "terraform.tfstate"))
	if want := p.objects(p.round.Victim); len(ids) != want {
		p.result.broke("%s ended with status 0 and %d of %d objects in its state", p.round.Victim, len(ids), want)
	}
	return err
}

// objects is how many objects a session makes.
func (p *play) objects(name string) int {
	for _, s := range sessions() {
		if s.name == name {
			return strings.Count(s.hcl, "resource ")
		}
	}
	return 0
}

// judgeStateLock: whoever is asked to end gives Terraform's own lock back.
func (p *play) judgeStateLock() {
	if !p.round.Kind.graceful() {
		return
	}
	_, err := os.Stat(filepath.Join(p.spaces[p.round.Victim].Dir, ".terraform.tfstate.lock.info"))
	if !errors.Is(err, fs.ErrNotExist) {
		p.result.broke("the state of %s is locked (%v)", p.round.Victim, err)
	}
}

// judgeHeld: nobody holds or waits for anything any more, but for calls whose
// outcome nobody knows; and what the victim held it held no longer than its lease
// and resumeLimit allow.
func (p *play) judgeHeld(told []*call) {
	for _, c := range told {
		if c.ended.IsZero() && !c.uncertain {
			p.result.broke("%s (%s of %s) has not ended", c.tx.ID, c.tx.Address, c.actor)
		}
		if c.actor == p.round.Victim && c.started.IsZero() && c.ended.Sub(p.killed) > lease+resumeLimit+p.round.Gap+time.Second {
			p.result.broke("%s (%s of %s) was held for %v after the blow, and never sent", c.tx.ID, c.tx.Address, c.actor, c.ended.Sub(p.killed))
		}
	}
}

// judgeFolders: the next run leaves no private folder of one that was killed.
func (p *play) judgeFolders(ctx context.Context) error {
	args := []string{"plan", "-no-color"}
	if p.round.Kind == Daemon {
		args = append(args, "-weaver-coordinator="+p.e.DaemonAddress())
	}
	run, err := p.spaces[bystander().name].Tfweaver(ctx, args...)
	if err != nil {
		return err
	}
	if run.ExitCode != 0 {
		p.result.broke("a plan of %s afterwards: exit code %d", bystander().name, run.ExitCode)
	}
	left, err := filepath.Glob(filepath.Join(p.e.TempDir(), "tfweaver-run-*"))
	for _, folder := range left {
		p.result.broke("%s is left after the next run", filepath.Base(folder))
	}
	p.result.LeftFolders = len(left)
	return err
}

// judgeUsable: plain Terraform can read the victim's state, and goes on with it
// until there is nothing to do.
func (p *play) judgeUsable(ctx context.Context) error {
	if p.round.Victim == "" {
		return nil
	}
	w := p.spaces[p.round.Victim]
	tidied, err := w.Tidy(ctx)
	if err != nil {
		return err
	}
	p.result.Orphaned = tidied
	for _, args := range [][]string{{"apply", "-auto-approve", "-no-color"}, {"plan", "-detailed-exitcode", "-no-color"}} {
		run, err := w.Terraform(ctx, args...)
		if err != nil {
			return err
		}
		if run.ExitCode != 0 {
			p.result.broke("plain %s of %s afterwards: exit code %d", args[0], p.round.Victim, run.ExitCode)
		}
	}
	return nil
}
