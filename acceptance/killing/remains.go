// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"context"
	"errors"
	"strings"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// judgeProcesses: of all that was started only the coordinator may be left.
func (p *play) judgeProcesses(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, quietLimit)
	defer cancel()
	var orphans []lab.Process
	err := lab.Await(ctx, "the processes have gone", func() (bool, error) {
		var err error
		orphans, err = p.orphans()
		return len(orphans) == 0, err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		for _, o := range orphans {
			p.result.LeftProcesses++
			p.result.broke("process %d (%s) is left", o.PID, o.Program)
		}
		return nil
	}
	return err
}

// orphans are the processes of the experiment that nobody waits for any more.
func (p *play) orphans() ([]lab.Process, error) {
	all, err := p.e.Processes()
	if err != nil {
		return nil, err
	}
	serving, err := p.e.CoordinatorPID()
	if err != nil {
		return nil, err
	}
	if p.daemon != nil {
		serving = p.daemon.PID()
	}
	var orphans []lab.Process
	for _, process := range all {
		if process.PID != serving {
			orphans = append(orphans, process)
		}
	}
	return orphans, nil
}

// journal ends the coordinator and reads what it has written down.
func (p *play) journal(ctx context.Context) (lab.Journal, error) {
	if p.daemon == nil {
		return p.e.Journal(ctx)
	}
	if err := p.daemon.Interrupt(); err != nil {
		return lab.Journal{}, err
	}
	if err := p.daemon.Wait(); err != nil {
		return lab.Journal{}, err
	}
	return p.e.DaemonJournal(ctx)
}

// judgeSockets: now that no process is left, no socket is; but for that of the
// last coordinator, which stays by design. What killed runs left behind the last
// one has removed.
func (p *play) judgeSockets() error {
	files, err := p.e.Sockets()
	if err != nil {
		return err
	}
	serving := 0
	for _, file := range files {
		switch {
		case strings.HasPrefix(file, "run"):
			if serving++; serving > 1 {
				p.result.broke("socket %s is left beside that of the last coordinator", file)
			}
		default:
			p.result.broke("socket %s is left", file)
		}
	}
	return nil
}
