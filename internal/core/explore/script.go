// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// Script is what the core was told in the history of the finding, in the words
// of the stories of package admission: as a file in its testdata/admission it
// replays. What each command prints is left open, and is filled in by -rewrite.
func (f *Finding) Script() string {
	r, _ := follow(f.Config, f.History)
	s := &script{now: second, expires: map[admission.SessionID]int64{}}
	fmt.Fprintf(&s.b, "# %s\n# %s\n\n", f.Config.Name, strings.ReplaceAll(f.Cause.Error(), "\n", " "))
	if f.dense() {
		s.step = 1
		s.line("step 1ns")
	} else {
		s.step = second
	}
	for _, group := range r.commands {
		s.group(group)
	}
	return s.b.String()
}

const second = int64(1e9)

// dense says whether the history needs commands that follow each other within
// the times that the protocol knows.
func (f *Finding) dense() bool {
	return slices.ContainsFunc(f.History, func(m move) bool {
		return m.kind == mPause || m.kind == mSettle || m.kind == mSpread || m.kind == mPlan && m.who > 0
	})
}

// script writes commands with the clock of the stories, in which every command
// takes a step.
type script struct {
	b         strings.Builder
	now, step int64
	expires   map[admission.SessionID]int64
}

// group writes the commands of one move. A lease that ends is waited for, and
// the others are renewed just before.
func (s *script) group(list []admission.Command) {
	if len(list) == 0 {
		return
	}
	if _, ok := list[len(list)-1].(admission.Expire); ok {
		end := s.ending(list)
		s.advance(end - s.step*int64(len(list)-1) - s.now)
	}
	if r, ok := list[0].(admission.Renew); ok && len(list) == 1 && r.Session == observer {
		s.advance(pause)
	}
	for _, c := range list {
		s.command(c)
	}
}

// ending is when the lease ends of the one session that is not renewed.
func (s *script) ending(list []admission.Command) int64 {
	var first int64
	for id, at := range s.expires {
		renewed := slices.ContainsFunc(list, func(c admission.Command) bool {
			r, ok := c.(admission.Renew)
			return ok && r.Session == id
		})
		if !renewed && (first == 0 || at < first) {
			first = at
		}
	}
	return first
}

func (s *script) advance(by int64) {
	if by > 0 {
		fmt.Fprintf(&s.b, "advance %dns\n----\n\n", by)
		s.now += by
	}
}

// line writes a directive that is no command.
func (s *script) line(text string) { fmt.Fprintf(&s.b, "%s\n----\n\n", text) }

func (s *script) write(head string, input ...string) {
	s.b.WriteString(head + "\n")
	for _, l := range input {
		s.b.WriteString(l + "\n")
	}
	s.b.WriteString("----\n\n")
	s.now += s.step
}

func (s *script) command(c admission.Command) {
	switch c := c.(type) {
	case admission.OpenSession:
		s.expires[c.Session.ID] = s.now + lease
		s.write(fmt.Sprintf("open %s policy=%s lease=%dns", c.Session.ID, c.Session.Policy, lease), c.Intent.Objective)
	case admission.Renew:
		s.expires[c.Session] = s.now + lease
		s.write("renew " + string(c.Session))
	case admission.CloseSession:
		delete(s.expires, c.Session)
		s.write("close " + string(c.Session))
	case admission.Deceased:
		delete(s.expires, c.Session)
		s.write("died " + string(c.Session))
	case admission.Expire:
		for id, at := range s.expires {
			if at <= s.now {
				delete(s.expires, id)
			}
		}
		s.write("expire")
	case admission.Declare:
		s.write("declare "+string(c.Session), texts(c.Selves)...)
	case admission.Submit:
		s.submit(c)
	default:
		s.callCommand(c)
	}
}

func (s *script) callCommand(c admission.Command) {
	switch c := c.(type) {
	case admission.Start:
		s.write("start " + string(c.Tx))
	case admission.Complete:
		s.write(fmt.Sprintf("complete %s result=%s%s", c.Tx, c.Result, flag(" exists", c.Exists)))
	case admission.Withdraw:
		s.write(fmt.Sprintf("withdraw %s cause=%s", c.Tx, c.Cause))
	case admission.Resolve:
		s.write(fmt.Sprintf("resolve %s actor=%s%s", c.Tx, c.Actor, flag(" exists", c.Exists)), c.Reason)
	case admission.Settle:
		s.write(fmt.Sprintf("settle %s session=%s%s", c.Tx, c.Session, flag(" exists", c.Exists)))
	case admission.Pass:
		s.write(fmt.Sprintf("pass %s mode=%s by=%s", c.Tx, c.Mode, c.By), c.Reason)
	case admission.Observe:
		s.write(fmt.Sprintf("observe %s began=%d", c.Session, c.Began), observations(c.Objects)...)
	case admission.Measure:
		s.write(fmt.Sprintf("measure %s began=%d", c.Session, c.Began), readings(c.Readings)...)
	}
}

func flag(text string, set bool) string {
	if set {
		return text
	}
	return ""
}

func texts(ids []graph.NodeID) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = string(id)
	}
	return list
}

func observations(list []admission.Observation) []string {
	var lines []string
	for _, o := range list {
		l := string(o.Decl.ID) + map[bool]string{true: " exists", false: " gone"}[o.Exists]
		if o.Address != "" {
			l += " address=" + o.Address
		}
		for i, e := range o.Edges {
			l += flag(" ->", i == 0) + " " + string(e.To)
		}
		lines = append(lines, l)
	}
	return lines
}

func readings(list []admission.Reading) []string {
	var lines []string
	for _, r := range list {
		l := string(r.Bucket)
		if r.Limit.Set {
			l += fmt.Sprintf(" limit=%d", r.Limit.Value)
		}
		if r.Use.Set {
			l += fmt.Sprintf(" use=%d", r.Use.Value)
		}
		lines = append(lines, l)
	}
	return lines
}

// submit spells a request out: locks without the intentions that follow from
// them.
func (s *script) submit(c admission.Submit) {
	q := &c.Request
	head := fmt.Sprintf("submit %s session=%s do=%s", c.ID, q.Session, q.Action)
	if q.Self != "" {
		head += " self=" + string(q.Self)
	}
	head += fmt.Sprintf(" key=%d", q.Key) + flag(" keep-edges", q.KeepEdges) + flag(" whole", q.Whole) + flag(" advisory", q.Advisory)
	if q.Plan != "" {
		head += fmt.Sprintf(" plan=%s call=%s", q.Plan, q.Call)
	}
	var lines []string
	for _, w := range wanted(q.Locks) {
		lines = append(lines, fmt.Sprintf("lock %s %s %s", w.Node, w.Mode, w.Relation))
	}
	for _, g := range q.Guards {
		lines = append(lines, fmt.Sprintf("guard %s %s %d", g.Kind, g.Node, g.Value))
	}
	for _, e := range q.Edges {
		lines = append(lines, fmt.Sprintf("ref %s %s %s", e.From, e.Kind, e.To))
	}
	for _, e := range q.Effects {
		lines = append(lines, fmt.Sprintf("effect %s %d", e.Bucket, e.Amount))
	}
	for i := range q.Calls {
		lines = append(lines, plannedLine(&q.Calls[i]))
	}
	s.write(head, lines...)
}

// wanted are the locks that are no mere intentions.
func wanted(p lock.Plan) []lock.Want {
	var list []lock.Want
	for _, w := range p {
		if w.Mode == mode.X || w.Mode == mode.S {
			list = append(list, w)
		}
	}
	return list
}

func plannedLine(p *admission.Planned) string {
	l := fmt.Sprintf("call %s self=%s do=%s", p.ID, p.Self, p.Action)
	if p.Group != "" {
		l += " group=" + p.Group
	}
	for i, a := range p.After {
		l += flag(" after=", i == 0) + flag(",", i > 0) + string(a)
	}
	for _, e := range p.Effects {
		l += fmt.Sprintf(" effect=%s:%d", e.Bucket, e.Amount)
	}
	for _, w := range wanted(p.Locks) {
		if w.Node != p.Self {
			l += fmt.Sprintf(" lock=%s:%s", w.Node, w.Mode)
		}
	}
	for _, g := range p.Guards {
		l += fmt.Sprintf(" guard=%s:%s:%d", g.Kind, g.Node, g.Value)
	}
	return l
}
