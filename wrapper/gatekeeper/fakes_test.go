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
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
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

	// pass answers a Pass, settle a Settle by its number from 0, unsettled an
	// Unsettled; explain has the reports of other transactions.
	pass      func(tx admission.TxID, p admission.Pass) (Grant, error)
	settle    func(n int, s admission.Settle) error
	unsettled []coordinator.Unsettled
	explain   map[admission.TxID]conflict.Report
	buckets   map[escrow.Key]coordinator.BucketStatus
	at        int64 // the coordinator's time

	mu        sync.Mutex
	submitted []submission
	forecasts []forecastCall
	observed  []observation
	measured  []measurement
	settled   []admission.Settle
	passed    []admission.Pass
}

type measurement struct {
	began    uint64
	readings []admission.Reading
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

func (f *fakeSession) Moment(context.Context) (coordinator.Moment, error) {
	return coordinator.Moment{Index: f.index, At: f.at}, nil
}

func (f *fakeSession) Measure(_ context.Context, began uint64, readings []admission.Reading) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.measured = append(f.measured, measurement{began, readings})
	return nil
}

func (f *fakeSession) Buckets(_ context.Context, keys ...escrow.Key) ([]coordinator.BucketStatus, error) {
	var list []coordinator.BucketStatus
	for _, k := range keys {
		b := f.buckets[k]
		b.Bucket = k
		list = append(list, b)
	}
	return list, nil
}

func (f *fakeSession) Unsettled(context.Context, admission.TxID) ([]coordinator.Unsettled, error) {
	return f.unsettled, nil
}

func (f *fakeSession) Settle(_ context.Context, s admission.Settle) error {
	f.mu.Lock()
	n := len(f.settled)
	f.settled = append(f.settled, s)
	f.mu.Unlock()
	if f.settle == nil {
		return nil
	}
	return f.settle(n, s)
}

func (f *fakeSession) Pass(_ context.Context, tx admission.TxID, p admission.Pass) (Grant, error) {
	p.Tx = tx
	f.mu.Lock()
	f.passed = append(f.passed, p)
	f.mu.Unlock()
	if f.pass == nil {
		return &fakeGrant{passed: &p}, nil
	}
	return f.pass(tx, p)
}

func (f *fakeSession) Explain(_ context.Context, tx admission.TxID) (conflict.Report, admission.Status, error) {
	r, ok := f.explain[tx]
	if !ok {
		return r, "", admission.ErrNoTx
	}
	return r, admission.Status(r.Status), nil
}

func (f *fakeSession) passes() []admission.Pass {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.passed
}

func (f *fakeSession) requests() []submission {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.submitted
}

// fakeGrant records what becomes of an admitted call.
type fakeGrant struct {
	startErr error
	passed   *admission.Pass
	report   *conflict.Report
	// complete answers a Complete by its number from 0.
	complete func(n int) error

	mu        sync.Mutex
	started   bool
	withdrawn bool
	outcome   *client.Outcome
	completed int
}

func (g *fakeGrant) Passed() *admission.Pass  { return g.passed }
func (g *fakeGrant) Report() *conflict.Report { return g.report }

// told is the outcome that was recorded, nil for none.
func (g *fakeGrant) told() *client.Outcome {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.outcome
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
	n := g.completed
	g.completed++
	if g.complete != nil {
		if err := g.complete(n); err != nil {
			return err
		}
	}
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

func (r *recorder) Refused(x views.Refused)       { r.note(func() { r.refused = append(r.refused, x) }) }
func (r *recorder) Forecast(views.Forecast)       {}
func (r *recorder) Passed(x views.Passed)         { r.note(func() { r.passed = append(r.passed, x) }) }
func (r *recorder) Reading(x views.Reading)       { r.note(func() { r.reading = append(r.reading, x) }) }
func (r *recorder) Settled(x views.Settled)       { r.note(func() { r.settled = append(r.settled, x) }) }
func (r *recorder) Unreadable(x views.Unreadable) { r.note(func() { r.stuck = append(r.stuck, x) }) }
func (r *recorder) Problem(x views.Problem)       { r.note(func() { r.problems = append(r.problems, x) }) }
func (r *recorder) Summary(views.Summary)         {}

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
	calls   []lowering.PlannedCall // in place of ops
}

func (c changes) MatchCall(call intercept.Call) (admission.CallID, string) {
	if c.address == "" {
		return "", ""
	}
	return admission.CallID(string(call.Action) + " " + c.address), c.address
}

func (c changes) Succeeded(admission.CallID) {}

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
	config := Config{Explain: r.session.Explain, Session: r.session, Engine: fakeEngine{}, View: r.view, Wait: time.Hour, Repeat: time.Hour}
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
