// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package history

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// kind is what an operation does.
type kind string

const (
	opOpen     kind = "open"
	opSubmit   kind = "submit"
	opLook     kind = "look" // what a waiting caller is told in the end
	opStart    kind = "start"
	opComplete kind = "complete"
	opWithdraw kind = "withdraw"
	opRenew    kind = "renew"
	opClose    kind = "close"
	opExpire   kind = "expire" // by the coordinator itself, some time or never
	opResolve  kind = "resolve"
	opStatus   kind = "status"
	opMoment   kind = "moment"
	opObserve  kind = "observe"
	opLookup   kind = "lookup"
)

// touch is what a call does to its tree.
type touch string

const (
	writes touch = "write" // one subnet, and the slot that all writes share
	alters touch = "alter" // one subnet, for which there is no slot
	scans  touch = "scan"  // the whole tree, which must not change meanwhile
)

// ask is what a call touches.
type ask struct {
	touch touch
	part  int
}

// collides says whether two calls must not run at the same time.
func (a ask) collides(b ask) bool {
	switch {
	case a.touch == scans || b.touch == scans:
		return a.touch != b.touch
	case a.touch == writes && b.touch == writes:
		return true
	default:
		return a.part == b.part
	}
}

// input is the question of an operation.
type input struct {
	kind    kind
	tree    int
	session string // the actor, which is unique
	reject  bool   // open: the policy
	key     uint64
	ask     ask
	token   uint64
	result  string
	exists  bool
	mark    int // moment and observe: which moment
	// lapsed: the lease may have been over when the answer came.
	lapsed bool
}

// listed is one transaction in a status.
type listed struct {
	session, tx, status string
	key, token          uint64
}

// output is the answer.
type output struct {
	unknown  bool   // it was lost
	err      string // the reason
	tx       string // or the session
	status   string
	token    uint64
	list     []listed
	live     []string
	presence string
	index    uint64
}

// model is the sequential specification of one tree. What an operation does
// whose answer was lost is one of two things.
func model() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Partition:         partition,
		Init:              func() []any { return []any{(&world{}).sealed()} },
		Step:              func(state, in, out any) []any { return steps(state.(*world), in.(input), out.(output)) },
		Equal:             func(a, b any) bool { return a.(*world).text == b.(*world).text },
		Hash:              func(s any) uint64 { return maphash.String(seed, s.(*world).text) },
		DescribeOperation: describe,
		DescribeState:     func(s any) string { return s.(*world).text },
	}
	return m.ToModel()
}

// seed of the hashes; any will do.
var seed = maphash.MakeSeed()

// partition divides a history by trees.
func partition(all []porcupine.Operation) [][]porcupine.Operation {
	var parts [][]porcupine.Operation
	for _, o := range all {
		tree := o.Input.(input).tree
		for len(parts) <= tree {
			parts = append(parts, nil)
		}
		parts[tree] = append(parts[tree], o)
	}
	return parts
}

// steps are the states that may follow when the model gives this answer; none
// when it may not.
func steps(now *world, in input, out output) []any {
	if in.kind == opStart && in.lapsed && out.err == noSession {
		return startedInVain(now, in, out)
	}
	next := now.clone()
	if !next.apply(in, out) {
		return nil
	}
	if out.unknown {
		return []any{next.sealed(), now} // it may never have arrived
	}
	return []any{next.sealed()}
}

// startedInVain: a start may be on record when the lease ends before the answer,
// and then the answer is that the call must not be sent.
func startedInVain(now *world, in input, out output) []any {
	var list []any
	if in.token == 0 || now.find(in.session, in.key) == nil {
		return nil
	}
	if same := now.clone(); same.apply(in, out) {
		list = append(list, same.sealed())
	}
	started := now.clone()
	if c := started.find(in.session, in.key); started.start(c, in, output{}) == "" {
		list = append(list, started.sealed())
	}
	return list
}

func (w *world) apply(in input, out output) bool {
	switch in.kind {
	case opOpen:
		return w.open(in, out)
	case opSubmit:
		return w.submit(in, out)
	case opLook:
		t := w.find(in.session, in.key)
		return t != nil && w.told(t, out)
	case opStart, opComplete, opWithdraw, opResolve:
		return w.act(in, out)
	case opRenew:
		return out.is(w.refusal(in, out))
	case opClose:
		return out.is(w.close(in))
	case opExpire:
		w.end(in.session, "expired")
		return true
	case opStatus:
		return w.shows(out)
	case opMoment:
		w.marks = append(w.marks, mark{in.mark, w.changes})
		return true
	case opObserve:
		return out.is(w.observe(in, out))
	case opLookup:
		return out.presence == w.presence
	default:
		panic(in.kind)
	}
}

// is says whether the answer was this error, or no error when it is empty. A
// lost answer may have been any.
func (o output) is(reason string) bool { return o.unknown || o.err == reason }

func describe(in, out any) string {
	i, o := in.(input), out.(output)
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", i.kind, i.session)
	if i.key != 0 {
		fmt.Fprintf(&b, "/%d", i.key)
	}
	if i.kind == opSubmit {
		fmt.Fprintf(&b, " %s %d", i.ask.touch, i.ask.part)
	}
	if i.token != 0 {
		fmt.Fprintf(&b, " token %d", i.token)
	}
	if i.result != "" {
		fmt.Fprintf(&b, " %s %t", i.result, i.exists)
	}
	switch {
	case o.unknown:
		b.WriteString(" -> lost")
	case o.err != "":
		fmt.Fprintf(&b, " -> %s", o.err)
	case i.kind == opStatus:
		fmt.Fprintf(&b, " -> %v %v", o.live, o.list)
	default:
		fmt.Fprintf(&b, " -> %s", strings.Join(slices.DeleteFunc([]string{o.tx, o.status, o.presence}, func(s string) bool { return s == "" }), " "))
		if o.token != 0 {
			fmt.Fprintf(&b, " token %d", o.token)
		}
	}
	return b.String()
}
