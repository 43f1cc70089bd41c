// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"fmt"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

const (
	// silenceStep is how often it is looked whether the coordinator owes an answer.
	silenceStep = 500 * time.Millisecond
	// firstSilence is after how many of those looks its silence is told, and
	// laterSilence after how many more. They are counted, and not measured: a
	// process that was suspended itself has waited for nobody.
	firstSilence = 10
	laterSilence = 20
)

// silence tells of a coordinator that does not answer, such as one that was stopped:
// the calls of the run wait for it, and the CLI says only that they are under way.
type silence struct {
	view views.View
	// unanswered is since when an answer is owed, if one is.
	unanswered func() (since time.Time, open bool)
	// whom names who is waited for, since when, and the way out.
	whom func(since time.Time) string
	step time.Duration

	// longest is written by the one that looks.
	longest time.Duration
}

// watch looks until the returned function is called, which says for how long the
// coordinator was silent at most; 0 when nothing was told of it.
func (s *silence) watch() (stop func() time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.follow(ctx)
	}()
	return func() time.Duration {
		cancel()
		<-done
		return s.longest
	}
}

func (s *silence) follow(ctx context.Context) {
	tick := time.NewTicker(s.step)
	defer tick.Stop()
	var asked time.Time
	for looks := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		since, open := s.unanswered()
		if !open || !since.Equal(asked) {
			asked, looks = since, 0
			continue
		}
		looks++
		if looks < firstSilence {
			continue
		}
		s.longest = max(s.longest, time.Since(since))
		if (looks-firstSilence)%laterSilence == 0 {
			s.view.Progress(views.Progress{Doing: s.whom(since), Elapsed: time.Since(since)})
		}
	}
}

// watchSilence begins to watch the coordinator of a run.
func (r *run) watchSilence() {
	s := &silence{view: r.view, unanswered: r.session.Unanswered, whom: r.silent, step: silenceStep}
	r.silence = s.watch()
}

// silent names the coordinator that does not answer, and the way out.
func (r *run) silent(since time.Time) string {
	if r.inv.Weaver.Coordinator != "" {
		return fmt.Sprintf("waiting for the coordinator at %s, which has not answered since %s", r.inv.Weaver.Coordinator, clock(since))
	}
	place, err := embedded.Look(r.app.embedded())
	if err != nil || place.Leader == nil {
		return fmt.Sprintf("waiting for the coordinator of this machine, which has not answered since %s", clock(since))
	}
	pid := place.Leader.PID
	return fmt.Sprintf("waiting for the coordinator of this machine (process %d), which has not answered since %s; if it was stopped, continue it with `kill -CONT %d`, or end it with `kill -KILL %d` and another takes its place",
		pid, clock(since), pid, pid)
}

func clock(t time.Time) string { return t.Local().Format(time.TimeOnly) }
