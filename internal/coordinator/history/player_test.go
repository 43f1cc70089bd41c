// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// player is one client that asks at random.
type player struct {
	id     int
	api    weaverv1.CoordinatorClient
	heard  *recorder
	random *rand.Rand
	trees  int
	runs   []*run // the sessions that are open, as far as it knows
	opened int
	keys   uint64
	marks  int
	pokes  sync.WaitGroup
}

// run is a session of a player.
type run struct {
	name, secret string
	tree         int
	short        bool // it is let lapse
	items        []*item
}

// item is a call of a session, as far as its player knows.
type item struct {
	key    uint64
	ask    ask
	tx     string
	status string
	token  uint64
}

// patience is far more than any answer takes.
const patience = 20 * time.Second

// question is the context of one call. Now and then it ends early.
func (p *player) question(r *run) (context.Context, context.CancelFunc) {
	limit := patience
	if p.random.IntN(20) == 0 {
		limit = time.Duration(p.random.IntN(2000)) * time.Microsecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	if r != nil {
		ctx = metadata.AppendToOutgoingContext(ctx, server.MetadataKey, r.secret)
	}
	return ctx, cancel
}

// note puts an answer on record.
func (p *player) note(call int64, in input, out output) output {
	p.heard.add(p.id, call, in, out)
	return out
}

// failure is what an error says: a reason, or nothing at all.
func failure(err error) output {
	if errors.Is(err, io.EOF) {
		return output{unknown: true}
	}
	st := status.Convert(err)
	switch st.Code() { //nolint:exhaustive // the others say what they mean
	case codes.OK:
		return output{}
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
		return output{unknown: true}
	}
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return output{err: info.GetReason()}
		}
	}
	return output{err: st.Message()}
}

// shortLease is that of sessions which are let lapse.
const shortLease = 400 * time.Millisecond

func (p *player) open() {
	p.opened++
	r := &run{name: fmt.Sprintf("p%d-%d", p.id, p.opened), tree: p.random.IntN(p.trees), short: p.random.IntN(4) == 0}
	p.heard.works(r.name, r.tree)
	in := input{kind: opOpen, tree: r.tree, session: r.name, reject: p.random.IntN(3) == 0}
	ask := &weaverv1.OpenSessionRequest{Actor: r.name, LeaseMs: time.Hour.Milliseconds(), Intent: &weaverv1.Intent{Objective: "test"}}
	if r.short {
		ask.LeaseMs = shortLease.Milliseconds()
		p.heard.lease(r.name, shortLease)
	}
	if in.reject {
		ask.Policy = string(admission.Reject)
	}
	opening := fmt.Sprintf("%s-%022d", r.name, p.random.Uint64())
	for range 5 {
		ctx, cancel := p.question(nil)
		call := p.heard.now()
		answer, err := p.api.OpenSession(metadata.AppendToOutgoingContext(ctx, server.OpeningKey, opening), ask)
		cancel()
		out := failure(err)
		out.tx = answer.GetSessionId()
		p.note(call, in, out)
		if err == nil {
			r.secret = answer.GetSecret()
			p.runs = append(p.runs, r)
			return
		}
		if r.short {
			return // the next opening may be another session's
		}
	}
}

func (p *player) submit(r *run, it *item) {
	ctx, cancel := p.question(r)
	defer cancel()
	in := input{kind: opSubmit, tree: r.tree, session: r.name, key: it.key, ask: it.ask}
	call := p.heard.now()
	data, err := json.Marshal(request(r.tree, it))
	if err != nil {
		panic(err)
	}
	stream, err := p.api.Submit(ctx, &weaverv1.SubmitRequest{Request: &weaverv1.Request{Json: data}})
	var d *weaverv1.Decision
	if err == nil {
		d, err = stream.Recv()
	}
	p.learn(r, it, p.note(call, in, decision(d, err)))
	if err != nil || d.GetStatus() != queued || p.random.IntN(2) == 0 {
		return
	}
	stop := time.AfterFunc(time.Duration(p.random.IntN(60))*time.Millisecond, cancel)
	defer stop.Stop()
	for err == nil && d.GetStatus() == queued {
		d, err = stream.Recv()
	}
	if out := decision(d, err); !out.unknown && out.err == "" {
		in.kind = opLook
		p.learn(r, it, p.note(call, in, out))
	}
}

func decision(d *weaverv1.Decision, err error) output {
	out := failure(err)
	if err == nil {
		out.tx, out.status, out.token = d.GetTx(), d.GetStatus(), d.GetToken()
	}
	return out
}

// learn keeps what a decision said.
func (p *player) learn(r *run, it *item, out output) {
	if out.err == noSession {
		p.forget(r)
	}
	if out.unknown || out.err != "" {
		return
	}
	it.tx, it.status, it.token = out.tx, out.status, out.token
}

// forget lets a session be that is known to have ended.
func (p *player) forget(r *run) {
	for i := range p.runs {
		if p.runs[i] == r {
			p.runs = append(p.runs[:i:i], p.runs[i+1:]...)
			return
		}
	}
}

func network(tree int) string { return fmt.Sprint("n", tree) }

// request is what an item asks for, in the terms of the coordinator.
func request(tree int, it *item) admission.Request {
	r := coordinatortest.Create(network(tree), fmt.Sprint("s", it.ask.part))
	r.Key = it.key
	net := coordinatortest.Network(network(tree))
	want := lock.Want{Node: r.Self, Mode: mode.X, Relation: lock.Same, Rule: "test#self"}
	switch it.ask.touch {
	case writes:
		return r
	case scans:
		r.Action, r.Self, r.Address, r.Type = admission.Read, net, "sim_network."+network(tree), "sim_network"
		want = lock.Want{Node: net, Mode: mode.S, Relation: lock.Same, Rule: "test#scan"}
	case alters:
		r.Action = admission.Update
	}
	parents := map[graph.NodeID]graph.NodeID{}
	for _, n := range r.Nodes {
		parents[n.ID] = n.Parent
	}
	r.Locks = lock.Close([]lock.Want{want}, func(id graph.NodeID) (graph.NodeID, bool) {
		up := parents[id]
		return up, up != ""
	})
	return r
}

// status asks what is going on, and notes it for every tree.
func (p *player) status() {
	ctx, cancel := p.question(nil)
	defer cancel()
	call := p.heard.now()
	answer, err := p.api.Status(ctx, &weaverv1.StatusRequest{})
	if err != nil {
		return
	}
	var s coordinator.Status
	if err := json.Unmarshal(answer.GetJson(), &s); err != nil {
		panic(err)
	}
	p.shown(call, s)
}

func (p *player) shown(call int64, s coordinator.Status) {
	outs := make([]output, p.trees)
	for _, tx := range s.Transactions {
		tree := treeOf(tx.Self)
		outs[tree].list = append(outs[tree].list, listed{
			session: tx.Actor, key: tx.Key, tx: string(tx.ID), status: string(tx.Status), token: tx.Token,
		})
	}
	for tree := range outs {
		for _, x := range s.Sessions {
			if p.heard.treeOf(x.Actor) == tree {
				outs[tree].live = append(outs[tree].live, x.Actor)
			}
		}
		outs[tree].live = sorted(outs[tree].live)
		p.note(call, input{kind: opStatus, tree: tree}, outs[tree])
	}
}

// treeOf is the tree that a node lies in.
func treeOf(id graph.NodeID) int {
	var tree int
	_, rest, _ := strings.Cut(string(id), "/net/n")
	if _, err := fmt.Sscanf(rest, "%d", &tree); err != nil {
		panic(fmt.Sprint(id, err))
	}
	return tree
}
