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
	"github.com/tfweaver/tfweaver/wrapper/intercept"
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
	startErr    error
	withdrawErr error
	passed      *admission.Pass
	report      *conflict.Report
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
	return g.withdrawErr
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
