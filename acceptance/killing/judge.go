// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"context"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// quietLimit is how long operations, processes and files may take to go away once
// all runs have ended.
const quietLimit = 15 * time.Second

// judge finds out what is broken, once all runs have ended.
func (p *play) judge(ctx context.Context) error {
	log, err := p.quiet(ctx)
	if err != nil {
		return err
	}
	p.judgeExits(log)
	if err := p.judgeVictim(); err != nil {
		return err
	}
	judgeCloud(&p.result, log)
	if err := p.judgeProcesses(ctx); err != nil {
		return err
	}
	p.judgeStateLock()
	if err := p.judgeFolders(ctx); err != nil {
		return err
	}
	journal, err := p.journal(ctx)
	if err != nil {
		return err
	}
	if err := p.judgeSockets(); err != nil {
		return err
	}
	told := calls(journal)
	judgeGrants(&p.result, told)
	judgeSent(&p.result, log, told)
	p.judgeResumed(log, told)
	p.countUncertain(log, told)
	states, err := p.states(ctx)
	if err != nil {
		return err
	}
	p.judgeHeld(told)
	judgeKept(&p.result, log, lifecycles(journal.State), states)
	return p.judgeUsable(ctx)
}

// quiet waits until the cloud has ended what it was at, and returns its log.
func (p *play) quiet(ctx context.Context) (log activity.Log, err error) {
	ctx, cancel := context.WithTimeout(ctx, quietLimit)
	defer cancel()
	err = p.e.Cloud.Await(ctx, "the cloud is quiet", func(l activity.Log) bool {
		log = l
		for _, o := range l.Operations {
			if !o.Done() {
				return false
			}
		}
		return true
	})
	return log, err
}

// judgeExits: only the victim may fail. A run that finds no daemon for the moment
// may say so, if it has not begun.
func (p *play) judgeExits(log activity.Log) {
	const unreachable = 78
	for name, r := range p.runs {
		switch {
		case name == p.round.Victim, r.ExitCode == 0:
		case p.round.Kind == Daemon && r.ExitCode == unreachable && !wroteAny(log, name):
		default:
			p.result.broke("%s ended with exit code %d", name, r.ExitCode)
		}
	}
}

func wroteAny(log activity.Log, actor string) bool {
	for _, o := range log.Operations {
		if o.Actor == actor {
			return true
		}
	}
	return false
}

// judgeCloud: nothing was granted twice. The cloud takes one write of a network
// at a time, and refuses a second one.
func judgeCloud(r *Result, log activity.Log) {
	for _, e := range log.Refused {
		r.broke("the cloud refused %s %s of %s: %s", e.Method, e.ObjectID, e.Actor, e.ErrorCode)
	}
	for n, o := range log.Operations {
		for _, other := range log.Operations[:n] {
			if network := networkOf(o.ObjectID); network != "" && network == networkOf(other.ObjectID) && o.Overlaps(other) {
				r.broke("%s and %s were in flight together", o.ObjectID, other.ObjectID)
			}
		}
	}
}

// networkOf is the network that a write of an object excludes other writes of,
// empty for none.
func networkOf(id string) string {
	_, below, found := strings.Cut(strings.ToLower(id), "/virtualnetworks/")
	if !found {
		return ""
	}
	name, _, _ := strings.Cut(below, "/")
	return name
}

// objectOf is the cloud's id of a node's object, in lower case: a node's id has
// the realm before it.
func objectOf(id graph.NodeID) string {
	at := strings.IndexByte(string(id), '/')
	if at < 0 {
		return ""
	}
	return strings.ToLower(string(id[at:]))
}

// judgeGrants: tokens only grow, and no two calls of one network were granted
// together.
func judgeGrants(r *Result, told []*call) {
	seen := make(map[uint64]admission.TxID)
	for n, c := range told {
		if before, twice := seen[c.token]; c.token != 0 && twice {
			r.broke("%s and %s have the same token", before, c.tx.ID)
		}
		seen[c.token] = c.tx.ID
		for _, o := range told[:n] {
			if network := networkOf(string(c.tx.Self)); network != "" && network == networkOf(string(o.tx.Self)) && c.overlap(o) {
				r.broke("%s (%s) and %s (%s) were granted together", o.tx.ID, o.tx.Address, c.tx.ID, c.tx.Address)
			}
		}
	}
}

// judgeSent: nothing reached the cloud that was not announced in the journal
// before, by the same actor, and nothing was sent twice for one announcement.
func judgeSent(r *Result, log activity.Log, told []*call) {
	used := make(map[*call]bool)
	for _, o := range log.Operations {
		if o.Actor == lab.Furniture {
			continue
		}
		c := announced(o, told, used)
		if c == nil {
			r.broke("%s of %s by %s was never announced", o.Method, o.ObjectID, o.Actor)
			continue
		}
		used[c] = true
	}
}

// announced is the call of an operation.
func announced(o activity.Operation, told []*call, used map[*call]bool) *call {
	for _, c := range told {
		if !used[c] && c.actor == o.Actor && objectOf(c.tx.Self) == strings.ToLower(o.ObjectID) && !c.started.IsZero() && c.started.Before(o.Start) {
			return c
		}
	}
	return nil
}

// judgeResumed: the bystander, and every session on the network that the victim
// is not at, go on within the limit.
func (p *play) judgeResumed(log activity.Log, told []*call) {
	hit := ""
	for _, s := range sessions() {
		if s.name == p.round.Victim {
			hit = s.network
		}
	}
	for _, o := range log.Operations {
		if o.Actor == lab.Furniture || o.Start.Before(p.killed) {
			continue
		}
		held := o.Start.Sub(p.due(o, log, told)).Seconds()
		switch o.Actor {
		case bystander().name:
			p.result.BystanderS = held
		case rival(p.round).name:
			p.result.RivalS = held
		}
		if free := o.Actor == bystander().name || hit != "" && networkOf(o.ObjectID) != hit; free && held > resumeLimit.Seconds() {
			p.result.broke("%s went on with %s only %.1f s after it could, although it conflicts with nobody who was killed", o.Actor, o.ObjectID, held)
		}
	}
}

// due is when an operation could have begun at the earliest: at the kill, when
// its call was submitted, and when the last operation on the same network before
// it had ended.
func (p *play) due(o activity.Operation, log activity.Log, told []*call) time.Time {
	due := p.killed
	for _, c := range told {
		if c.actor == o.Actor && objectOf(c.tx.Self) == strings.ToLower(o.ObjectID) && c.submitted.Before(o.Start) && c.submitted.After(due) {
			due = c.submitted
		}
	}
	for _, before := range log.Operations {
		if network := networkOf(o.ObjectID); network != "" && network == networkOf(before.ObjectID) && before.Start.Before(o.Start) && before.End.After(due) {
			due = before.End
		}
	}
	return due
}

// countUncertain counts the calls whose outcome was unknown. Each has an id that
// can be derived, and the rival needs the network of each on that network: so
// none may be left there.
func (p *play) countUncertain(log activity.Log, told []*call) {
	for _, c := range told {
		if !c.uncertain {
			continue
		}
		p.result.Uncertain++
		switch {
		case c.ended.IsZero():
			p.result.Open++
			if networkOf(string(c.tx.Self)) == rival(p.round).network {
				p.result.broke("%s (%s of %s) was not settled, although the rival needed that", c.tx.ID, c.tx.Address, c.actor)
			}
		case c.byPerson:
			p.result.broke("%s (%s) was settled by somebody's word", c.tx.ID, c.tx.Address)
		case c.read:
			p.result.Read++
			p.result.SettledS = max(p.result.SettledS, c.ended.Sub(p.known(log, c)).Seconds())
		default:
			p.result.Reported++
		}
	}
}

// known is when a read could have settled a call at the earliest: when the process
// had been killed and the operation had ended.
func (p *play) known(log activity.Log, c *call) time.Time {
	known := p.killed
	for _, o := range log.Operations {
		if o.Actor == c.actor && objectOf(c.tx.Self) == strings.ToLower(o.ObjectID) && o.End.After(known) {
			known = o.End
		}
	}
	return known
}
