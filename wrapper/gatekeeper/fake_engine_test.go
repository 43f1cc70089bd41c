// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

const (
	netID    = graph.NodeID("/net")
	subnetID = graph.NodeID("/net/sub")
)

// fakeEngine lowers everything to X on /net/sub.
type fakeEngine struct {
	err     error
	logical bool
	unruled bool
	// effects and lands are those of each request.
	effects escrow.Effects
	lands   time.Duration
	// definite makes every error a refusal; unreadable keeps objects from being
	// read back; busy shows them with an operation in progress.
	definite   bool
	unreadable error
	busy       func() bool
	readings   []admission.Reading
}

// ReadBack reads an object by its id.
func (e fakeEngine) ReadBack(provider string, _ cty.Value, node graph.Decl) (ruleengine.Target, error) {
	if e.unreadable != nil {
		return ruleengine.Target{}, e.unreadable
	}
	return ruleengine.Target{Provider: provider, Type: "simcloud_subnet", ImportID: string(node.ID)}, nil
}

func (e fakeEngine) Refusal(_, _ string, texts []string) (string, bool, bool) {
	return "", e.definite && len(texts) > 0, e.definite
}

func (e fakeEngine) Lower(_ context.Context, op ruleengine.Operation, _ ruleengine.Graph) (ruleengine.Lowered, error) {
	if e.err != nil {
		return ruleengine.Lowered{}, e.err
	}
	nodes := []graph.Decl{{ID: netID, Kind: graph.Realm}, {ID: subnetID, Parent: netID, Kind: graph.Resource, Type: op.Type}}
	var buckets []ruleengine.Bucket
	for _, x := range e.effects {
		buckets = append(buckets, ruleengine.Bucket{Key: x.Bucket, Owner: nodes[0]})
	}
	return ruleengine.Lowered{
		Logical: e.logical, Ruled: !e.unruled, Buckets: buckets,
		Request: admission.Request{
			Address: op.Address, Type: op.Type, Action: op.Action, Self: subnetID, Nodes: nodes,
			Effects: e.effects, Lands: int64(e.lands),
			Locks: lock.Plan{{Node: netID, Mode: mode.IX, Relation: lock.Ancestor}, {Node: subnetID, Mode: mode.X, Relation: lock.Same}},
		},
	}, nil
}

func (e fakeEngine) See(o ruleengine.Object) (ruleengine.Seen, bool, error) {
	if e.err != nil {
		return ruleengine.Seen{}, false, e.err
	}
	id := graph.NodeID(o.State.GetAttr("id").AsString())
	decl := graph.Decl{ID: id, Parent: netID, Kind: graph.Resource, Type: o.Type}
	if id == netID {
		decl = graph.Decl{ID: netID, Kind: graph.Realm}
	}
	digest := ""
	if o.Sensitive.Has(cty.GetAttrPath("secret")) {
		digest = "without secret"
	}
	return ruleengine.Seen{
		Terminal: e.busy == nil || !e.busy(), Readings: e.readings,
		Nodes:       []graph.Decl{{ID: netID, Kind: graph.Realm}, decl},
		Observation: admission.Observation{Decl: decl, Exists: !o.Gone, Digest: digest},
	}, true, nil
}

func (e fakeEngine) SelfID(_ ruleengine.Operation, state cty.Value) (graph.Decl, []graph.Decl, error) {
	if e.err != nil {
		return graph.Decl{}, nil, e.err
	}
	return graph.Decl{ID: graph.NodeID(state.GetAttr("id").AsString()), Parent: netID, Type: "simcloud_subnet"}, nil, nil
}

func (e fakeEngine) Digest(cty.Value, cty.PathSet) string { return "digest" }

func (e fakeEngine) Doc(rule string) string { return "why " + rule }

// fakeReader answers reads by their number from 0.
type fakeReader struct {
	answer func(n int, id string) (intercept.Object, error)
	mu     sync.Mutex
	asked  []string
}

func (f *fakeReader) Read(_ context.Context, target intercept.Target) (intercept.Object, error) {
	f.mu.Lock()
	n := len(f.asked)
	f.asked = append(f.asked, target.ID)
	f.mu.Unlock()
	return f.answer(n, target.ID)
}

func (f *fakeReader) reads() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

// there and gone are what a read may find.
func there(id string) intercept.Object { return intercept.Object{Exists: true, State: object(id)} }

func gone() intercept.Object { return intercept.Object{State: cty.NullVal(object("").Type())} }

// readable gives a rig a reader, and a provider to read with.
func (r rig) readable(answer func(n int, id string) (intercept.Object, error)) *fakeReader {
	reader := &fakeReader{answer: answer}
	r.UseReader(reader)
	r.Configured(context.Background(), "p", object("config"))
	withSchemas(r)
	return reader
}

// recorder is a view that keeps what it is shown.
type recorder struct {
	mu       sync.Mutex
	waiting  []views.Waiting
	admitted []views.Admitted
	refused  []views.Refused
	passed   []views.Passed
	reading  []views.Reading
	settled  []views.Settled
	stuck    []views.Unreadable
	problems []views.Problem
	changed  chan struct{}
}

func newRecorder() *recorder { return &recorder{changed: make(chan struct{}, 1000)} }

func (r *recorder) note(f func()) {
	r.mu.Lock()
	f()
	r.mu.Unlock()
	r.changed <- struct{}{}
}

func (r *recorder) Waiting(w views.Waiting) { r.note(func() { r.waiting = append(r.waiting, w) }) }

func (r *recorder) Admitted(a views.Admitted) { r.note(func() { r.admitted = append(r.admitted, a) }) }

func (r *recorder) Refused(x views.Refused) { r.note(func() { r.refused = append(r.refused, x) }) }
func (r *recorder) Forecast(views.Forecast) {}
func (r *recorder) Passed(x views.Passed)   { r.note(func() { r.passed = append(r.passed, x) }) }

func (r *recorder) Reading(x views.Reading) { r.note(func() { r.reading = append(r.reading, x) }) }

func (r *recorder) Settled(x views.Settled) { r.note(func() { r.settled = append(r.settled, x) }) }

func (r *recorder) Progress(views.Progress) {}

func (r *recorder) Unreadable(x views.Unreadable) { r.note(func() { r.stuck = append(r.stuck, x) }) }

func (r *recorder) Problem(x views.Problem) { r.note(func() { r.problems = append(r.problems, x) }) }
func (r *recorder) Summary(views.Summary)   {}

// until waits for a condition on what was shown.
func (r *recorder) until(t *testing.T, holds func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		r.mu.Lock()
		ok := holds()
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-r.changed:
		case <-deadline:
			t.Fatal("the view was not shown what it should be")
		}
	}
}

// changes is a plan that knows one address.
type changes struct {
	address string
	// twins are the addresses that a call may have as well.
	twins []string
	ops   []ruleengine.Operation
	calls []lowering.PlannedCall // in place of ops
	// succeeded is told of calls that ended well; may be nil.
	succeeded func(admission.CallID)
}

func (c changes) MatchCall(call intercept.Call) lowering.Match {
	var may []lowering.PlannedCall
	for _, address := range append([]string{c.address}, c.twins...) {
		if address != "" {
			may = append(may, lowering.PlannedCall{ID: admission.CallID(string(call.Action) + " " + address), Address: address})
		}
	}
	return lowering.MatchOf(may...)
}

func (c changes) Succeeded(match lowering.Match) {
	if c.succeeded != nil {
		c.succeeded(match.ID)
	}
}

func (c changes) Calls() []lowering.PlannedCall {
	if c.calls != nil {
		return c.calls
	}
	var calls []lowering.PlannedCall
	for _, op := range c.ops {
		calls = append(calls, lowering.PlannedCall{
			ID: admission.CallID(string(op.Action) + " " + op.Address), Operation: op, Address: op.Address,
		})
	}
	return calls
}
