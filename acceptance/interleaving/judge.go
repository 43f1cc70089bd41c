// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package interleaving

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// What the CLI says.
const (
	staleMessage  = "Saved plan is stale"
	lockedMessage = "Error acquiring the state lock"
)

// judge finds out what came of the round. What the runs and the plain Terraform
// may do is the same with and without tfweaver; that the run ends well is asked of
// tfweaver alone.
func (p *play) judge(ctx context.Context) error {
	r := &p.result
	r.Exit, r.Plans, r.RunS = p.run.ExitCode, len(shown.FindAllString(p.begun.Stdout(), -1)), p.run.Ended.Sub(p.begun.Started).Seconds()
	r.Stale = r.Exit != 0 && strings.Contains(plainly(p.run.Said()), staleMessage)
	if p.round.Woven && r.Exit != 0 {
		r.broke("the run ended with exit code %d (stale: %v)", r.Exit, r.Stale)
	}
	p.judgePlain()
	log, err := p.e.Cloud.Log()
	if err != nil {
		return err
	}
	for _, e := range log.Refused {
		r.broke("the cloud refused %s of %s by %s: %s", e.Method, e.ObjectID, e.Actor, e.ErrorCode)
	}
	if err := p.judgeState(log); err != nil {
		return err
	}
	if p.round.Remote {
		if err := p.judgeVersions(log); err != nil {
			return err
		}
	}
	if err := p.judgeLeft(ctx); err != nil {
		return err
	}
	return p.judgePlan(ctx, log)
}

// plainly undoes line breaks and the frames of messages.
func plainly(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\u2502", " ")), " ")
}

// judgePlain: a lock that it does not get in time is the plain Terraform's own
// business, and only noted.
func (p *play) judgePlain() {
	for _, run := range p.plain {
		switch {
		case run.ExitCode == 0:
		case strings.Contains(plainly(run.Said()), lockedMessage):
			p.result.PlainExit, p.result.PlainLocked = run.ExitCode, true
		default:
			p.result.PlainExit = run.ExitCode
			p.result.broke("%s ended with exit code %d", run.Name, run.ExitCode)
		}
	}
}

// there are the ids of all that is in the cloud, but for the group.
func there(log activity.Log) []string {
	alive := make(map[string]bool)
	ordered := slices.SortedFunc(slices.Values(log.Operations), func(a, b activity.Operation) int { return a.End.Compare(b.End) })
	for _, o := range ordered {
		if o.Result == activity.Succeeded && !strings.HasSuffix(strings.ToLower(o.ObjectType), "resourcegroups") {
			alive[strings.ToLower(o.ObjectID)] = o.Method != "DELETE"
		}
	}
	var ids []string
	for id, is := range alive {
		if is {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// judgeState: what the state knows of and what there is are the same, so that what
// either has done is in the state.
func (p *play) judgeState(log activity.Log) error {
	text, err := p.state()
	if err != nil {
		return err
	}
	known, err := lab.StateIDs(text)
	if err != nil {
		return err
	}
	slices.Sort(known)
	if real := there(log); !slices.Equal(known, real) {
		p.result.broke("in the state are %v, in the cloud %v", names(known), names(real))
	}
	return nil
}

func names(ids []string) (short []string) {
	for _, id := range ids {
		short = append(short, id[strings.LastIndexByte(id, '/')+1:])
	}
	return short
}

// state is the state as it is now.
func (p *play) state() ([]byte, error) {
	if p.round.Remote {
		versions := p.store.Versions(stateName)
		if len(versions) == 0 {
			return nil, nil
		}
		return versions[len(versions)-1].Text, nil
	}
	text, err := os.ReadFile(filepath.Join(p.spaces[first].Dir, stateFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	return text, nil
}

// judgeVersions: the versions follow one another, and none drops anything but what
// was destroyed before it was written, or taken out on purpose.
func (p *play) judgeVersions(log activity.Log) error {
	if err := p.store.Chain(stateName); err != nil {
		p.result.broke("%v", err)
	}
	versions := p.store.Versions(stateName)
	p.result.Versions = len(versions) - p.base
	p.result.Between = p.between(versions)
	var known []string
	for n, v := range versions {
		ids, err := lab.StateIDs(v.Text)
		if err != nil {
			return fmt.Errorf("version %d: %w", n, err)
		}
		for _, id := range known {
			onPurpose := p.round.Kind == Reimport && v.By == second && strings.HasSuffix(id, "/"+kept)
			if !slices.Contains(ids, id) && !destroyed(log, id, v) && !onPurpose {
				p.result.broke("version %d of the state, of %s, has lost %s", n, v.By, id)
			}
		}
		known = ids
	}
	return nil
}

func destroyed(log activity.Log, id string, before lab.StateVersion) bool {
	return slices.ContainsFunc(log.Operations, func(o activity.Operation) bool {
		return o.Method == "DELETE" && strings.EqualFold(o.ObjectID, id) && o.Result == activity.Succeeded && o.End.Before(before.At)
	})
}

// between says whether the plain Terraform has written after the run had locked
// the state for the first time, and before the run ended.
func (p *play) between(versions []lab.StateVersion) bool {
	for _, r := range p.store.Requests(stateName) {
		if r.By != first || r.Method != "LOCK" || r.Status != 200 || r.At.Before(p.begun.Started) {
			continue
		}
		return slices.ContainsFunc(versions, func(v lab.StateVersion) bool {
			return v.By == second && v.At.After(r.At) && v.At.Before(p.run.Ended)
		})
	}
	return false
}

// judgeLeft: nobody holds anything any more.
func (p *play) judgeLeft(ctx context.Context) error {
	if holder := p.store.Holder(stateName); holder != "" {
		p.result.broke("the state is locked by %s", holder)
	}
	if !p.round.Woven {
		return nil
	}
	s, err := p.e.Status(ctx)
	if err == nil && len(s.Sessions)+len(s.Transactions)+len(s.Locks) > 0 {
		p.result.broke("there is left: %+v", s)
	}
	return err
}

// judgePlan: the CLI finds nothing to do. Where something was destroyed last, it
// is taken out of the configuration before. A control that has failed has left
// something to do, and is not asked.
func (p *play) judgePlan(ctx context.Context, log activity.Log) error {
	w := p.spaces[second]
	if p.round.Kind == Destroy && !slices.ContainsFunc(there(log), func(id string) bool { return strings.HasSuffix(id, "/"+kept) }) {
		if err := w.Configure(without()); err != nil {
			return err
		}
	}
	if p.result.Exit != 0 && !p.round.Woven {
		return nil // the control has told what it had to
	}
	plan, err := w.Terraform(ctx, "plan", "-detailed-exitcode", "-no-color")
	if err != nil {
		return err
	}
	if plan.ExitCode != 0 {
		p.result.broke("a plain plan ends with exit code %d: there is something left to do", plan.ExitCode)
	}
	return nil
}
