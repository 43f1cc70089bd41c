// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// fakeSession answers submits by a script and records what it is told.
type fakeSession struct {
	// submit is asked about every submit, with its number from 0.
	submit func(ctx context.Context, n int, onWait func(client.Waiting)) (Grant, error)
	done   chan struct{}
	err    error
	index  uint64
	found  map[graph.NodeID]coordinator.Found
	// prospects answers a forecast.
	prospects func([]admission.Request) []client.Prospect

	mu        sync.Mutex
	submitted []submission
	forecasts []forecastCall
	observed  []observation
}

type submission struct {
	request  admission.Request
	resubmit admission.TxID
}

type forecastCall struct {
	requests []admission.Request
	declare  bool
}

type observation struct {
	began   uint64
	nodes   []graph.Decl
	objects []admission.Observation
}

func newFakeSession() *fakeSession {
	return &fakeSession{
		done: make(chan struct{}),
		submit: func(context.Context, int, func(client.Waiting)) (Grant, error) {
			return &fakeGrant{}, nil
		},
	}
}

func (f *fakeSession) ID() string            { return "bob-1" }
func (f *fakeSession) Done() <-chan struct{} { return f.done }
func (f *fakeSession) Err() error            { return f.err }

func (f *fakeSession) Forecast(_ context.Context, r []admission.Request, declare bool) ([]client.Prospect, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forecasts = append(f.forecasts, forecastCall{r, declare})
	return f.prospects(r), nil
}

func (f *fakeSession) Submit(ctx context.Context, r admission.Request, resubmit admission.TxID, onWait func(client.Waiting)) (Grant, error) {
	f.mu.Lock()
	n := len(f.submitted)
	f.submitted = append(f.submitted, submission{r, resubmit})
	f.mu.Unlock()
	return f.submit(ctx, n, onWait)
}

func (f *fakeSession) Observe(_ context.Context, began uint64, nodes []graph.Decl, objects []admission.Observation) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.observed = append(f.observed, observation{began, nodes, objects})
	return began, nil
}

func (f *fakeSession) Lookup(_ context.Context, ids ...graph.NodeID) ([]coordinator.Found, uint64, error) {
	var found []coordinator.Found
	for _, id := range ids {
		found = append(found, f.found[id])
	}
	return found, f.index, nil
}

func (f *fakeSession) requests() []submission {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.submitted
}

// fakeGrant records what becomes of an admitted call.
type fakeGrant struct {
	startErr  error
	mu        sync.Mutex
	started   bool
	withdrawn bool
	outcome   *client.Outcome
}

func (g *fakeGrant) Tx() admission.TxID { return "t1" }

func (g *fakeGrant) Start(context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.started = g.startErr == nil
	return g.startErr
}

func (g *fakeGrant) Complete(_ context.Context, o client.Outcome) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outcome = &o
	return nil
}

func (g *fakeGrant) Withdraw(context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.withdrawn = true
	return nil
}

const (
	netID    = graph.NodeID("/net")
	subnetID = graph.NodeID("/net/sub")
)

// fakeEngine lowers everything to X on /net/sub.
type fakeEngine struct {
	err     error
	logical bool
	unruled bool
}

func (e fakeEngine) Lower(_ context.Context, op ruleengine.Operation, _ ruleengine.Graph) (ruleengine.Lowered, error) {
	if e.err != nil {
		return ruleengine.Lowered{}, e.err
	}
	nodes := []graph.Decl{{ID: netID, Kind: graph.Realm}, {ID: subnetID, Parent: netID, Kind: graph.Resource, Type: op.Type}}
	return ruleengine.Lowered{
		Logical: e.logical, Ruled: !e.unruled,
		Request: admission.Request{
			Address: op.Address, Type: op.Type, Action: op.Action, Self: subnetID, Nodes: nodes,
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
	digest := ""
	if o.Sensitive.Has(cty.GetAttrPath("secret")) {
		digest = "without secret"
	}
	return ruleengine.Seen{
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

// recorder is a view that keeps what it is shown.
type recorder struct {
	mu       sync.Mutex
	waiting  []views.Waiting
	admitted []views.Admitted
	refused  []views.Refused
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
func (r *recorder) Problem(views.Problem)   {}
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
	ops     []ruleengine.Operation
}

func (c changes) Match(intercept.Call) string        { return c.address }
func (c changes) Operations() []ruleengine.Operation { return c.ops }
func foreign(position int) client.Waiting {
	return client.Waiting{Tx: "t1", Foreign: true, Report: blamed("alice", position)}
}

func sibling() client.Waiting {
	return client.Waiting{Tx: "t1", Report: conflict.Report{ID: "t1", Decision: conflict.Wait}}
}

func blamed(actor string, position int) conflict.Report {
	return conflict.Report{
		ID: "t1", Decision: conflict.Wait, Address: "simcloud_subnet.b", Requester: conflict.Party{Session: "bob-1"},
		Conflicts: []conflict.Conflict{{
			RuleID: "r", Resource: conflict.Resource{CloudID: string(netID)},
			Holder: &conflict.Holder{Session: actor + "-7", Actor: actor, Objective: "net", State: conflict.Running},
		}},
		Wait: &conflict.WaitInfo{Position: position},
	}
}

// rig is a gatekeeper among fakes.
type rig struct {
	*Gatekeeper
	session *fakeSession
	view    *recorder
}

func newRig(t *testing.T, change func(*Config)) rig {
	t.Helper()
	r := rig{session: newFakeSession(), view: newRecorder()}
	config := Config{Session: r.session, Engine: fakeEngine{}, View: r.view, Wait: time.Hour, Repeat: time.Hour}
	if change != nil {
		change(&config)
	}
	r.Gatekeeper = New(config)
	t.Cleanup(func() { r.Close(context.Background()) })
	r.Plan(changes{address: "simcloud_subnet.b"})
	return r
}

func object(id string) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(id), "secret": cty.StringVal("hush")})
}

func call(action intercept.Action) intercept.Call {
	null := cty.NullVal(object("").Type())
	c := intercept.Call{Provider: "p", Type: "simcloud_subnet", Action: action, Prior: object("/net/sub"), Planned: object("/net/sub"), Schema: &intercept.Schema{}}
	switch action {
	case intercept.Create:
		c.Prior = null
	case intercept.Delete:
		c.Planned = null
	}
	return c
}
