// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package history

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

// step does something at random.
func (p *player) step() {
	for len(p.runs) < 2 {
		p.open()
	}
	r := p.runs[p.random.IntN(len(p.runs))]
	switch n := p.random.IntN(100); {
	case n < 6:
		p.status()
	case n < 9:
		p.lookup(r)
	case n < 13:
		p.observe(r)
	case n < 17:
		p.renew(r)
	case n < 19:
		p.close(r)
	case n < 26:
		p.resolve()
	case n < 40 && len(r.items) < 60:
		p.keys++
		it := &item{key: p.keys, ask: ask{touch: []touch{writes, writes, alters, scans}[p.random.IntN(4)], part: p.random.IntN(3)}}
		r.items = append(r.items, it)
		p.submit(r, it)
	case len(r.items) > 0:
		p.advance(r, p.pick(r))
	}
}

// pick prefers a call that is not over.
func (p *player) pick(r *run) *item {
	for range 12 {
		it := r.items[p.random.IntN(len(r.items))]
		switch it.status {
		case "", queued, admitted, actioning, uncertain:
			return it
		}
	}
	return r.items[p.random.IntN(len(r.items))]
}

// advance does the next thing with a call, or something else.
func (p *player) advance(r *run, it *item) {
	switch n := p.random.IntN(20); {
	case it.tx == "", it.status == queued && n < 16, n == 0:
		p.submit(r, it)
	case it.status == queued:
		p.withdraw(r, it)
	case it.status == admitted && n < 16:
		p.start(r, it)
	case it.status == admitted && n == 19:
		p.withdraw(r, it)
	case it.token != 0:
		p.complete(r, it)
	default:
		p.withdraw(r, it)
	}
}

// token is that of a call; now and then a wrong one.
func (p *player) token(it *item) uint64 {
	if p.random.IntN(25) == 0 {
		return it.token + 1<<40
	}
	return it.token
}

func (p *player) start(r *run, it *item) {
	ctx, cancel := p.question(r)
	defer cancel()
	in := input{kind: opStart, tree: r.tree, session: r.name, key: it.key, token: p.token(it)}
	call := p.heard.now()
	_, err := p.api.Start(ctx, &weaverv1.StartRequest{Tx: it.tx, Token: in.token})
	if out := p.note(call, in, failure(err)); out.err == "" && !out.unknown {
		it.status = actioning
	} else if out.err == noSession {
		p.forget(r)
	}
}

func (p *player) complete(r *run, it *item) {
	ctx, cancel := p.question(r)
	defer cancel()
	result := []string{"succeeded", "succeeded", "succeeded", "succeeded", "errored", "lost", "not_sent"}[p.random.IntN(7)]
	if it.status == uncertain && p.random.IntN(2) == 0 {
		result = "succeeded"
	}
	in := input{
		kind: opComplete, tree: r.tree, session: r.name, key: it.key, token: p.token(it),
		result: result, exists: p.random.IntN(4) == 0,
	}
	call := p.heard.now()
	_, err := p.api.Complete(ctx, &weaverv1.CompleteRequest{Tx: it.tx, Token: in.token, Result: result, Exists: in.exists})
	if out := p.note(call, in, failure(err)); out.err == "" && !out.unknown {
		it.status = results[result]
	}
}

func (p *player) withdraw(r *run, it *item) {
	ctx, cancel := p.question(r)
	defer cancel()
	in := input{kind: opWithdraw, tree: r.tree, session: r.name, key: it.key}
	call := p.heard.now()
	_, err := p.api.Withdraw(ctx, &weaverv1.WithdrawRequest{Tx: it.tx, Cause: "test"})
	if out := p.note(call, in, failure(err)); out.err == "" && !out.unknown {
		it.status = withdrawn
	}
}

func (p *player) renew(r *run) {
	ctx, cancel := p.question(r)
	defer cancel()
	call := p.heard.now()
	stream, err := p.api.Heartbeat(ctx)
	if err == nil {
		if err = stream.Send(&weaverv1.HeartbeatRequest{}); err == nil {
			_, err = stream.Recv()
		} else {
			_, err = stream.Recv() // says why
		}
	}
	if out := p.note(call, input{kind: opRenew, tree: r.tree, session: r.name}, failure(err)); out.err == noSession {
		p.forget(r)
	}
}

func (p *player) close(r *run) {
	ctx, cancel := p.question(r)
	defer cancel()
	call := p.heard.now()
	_, err := p.api.CloseSession(ctx, &weaverv1.CloseSessionRequest{})
	if out := p.note(call, input{kind: opClose, tree: r.tree, session: r.name}, failure(err)); !out.unknown {
		p.forget(r)
	}
}

// resolve settles an uncertain call, of whomever, if it finds one, and otherwise
// tries in vain.
func (p *player) resolve() {
	ctx, cancel := p.question(nil)
	defer cancel()
	answer, err := p.api.Status(ctx, &weaverv1.StatusRequest{})
	if err != nil {
		return
	}
	var s coordinator.Status
	if err := json.Unmarshal(answer.GetJson(), &s); err != nil {
		panic(err)
	}
	for _, tx := range s.Transactions {
		if tx.Status != admission.Uncertain && p.random.IntN(20) != 0 {
			continue
		}
		in := input{kind: opResolve, tree: treeOf(tx.Self), session: tx.Actor, key: tx.Key, exists: p.random.IntN(2) == 0}
		call := p.heard.now()
		_, err := p.api.Resolve(ctx, &weaverv1.ResolveRequest{Tx: string(tx.ID), Actor: "carol", Reason: "looked", Exists: in.exists})
		p.note(call, in, failure(err))
		return
	}
}

func probe(tree int) graph.NodeID {
	return coordinatortest.Network(network(tree)) + "/probe/p"
}

func (p *player) observe(r *run) {
	ctx, cancel := p.question(r)
	defer cancel()
	p.marks++
	mark := p.id*1_000_000 + p.marks
	call := p.heard.now()
	moment, err := p.api.Moment(ctx, &weaverv1.MomentRequest{})
	if err != nil {
		return
	}
	p.note(call, input{kind: opMoment, tree: r.tree, mark: mark}, output{index: moment.GetIndex()})
	net := coordinatortest.Network(network(r.tree))
	nodes, err := json.Marshal([]graph.Decl{
		{ID: coordinatortest.Realm, Kind: graph.Realm},
		{ID: net, Parent: coordinatortest.Realm, Kind: graph.Resource, Type: "sim_network"},
	})
	in := input{kind: opObserve, tree: r.tree, session: r.name, mark: mark, exists: p.random.IntN(2) == 0}
	var objects []byte
	if err == nil {
		objects, err = json.Marshal([]admission.Observation{{
			Decl:   graph.Decl{ID: probe(r.tree), Parent: net, Kind: graph.Resource, Type: "sim_probe"},
			Exists: in.exists,
		}})
	}
	if err != nil {
		panic(err)
	}
	call = p.heard.now()
	_, err = p.api.Observe(ctx, &weaverv1.ObserveRequest{Began: moment.GetIndex(), Nodes: nodes, Objects: objects})
	if out := p.note(call, in, failure(err)); out.err == noSession {
		p.forget(r)
	}
}

func (p *player) lookup(r *run) {
	ctx, cancel := p.question(r)
	defer cancel()
	call := p.heard.now()
	answer, err := p.api.Lookup(ctx, &weaverv1.LookupRequest{Ids: []string{string(probe(r.tree))}})
	if err != nil {
		return
	}
	var found coordinator.Found
	if err := json.Unmarshal(answer.GetNodes()[0], &found); err != nil {
		panic(err)
	}
	out := output{index: answer.GetIndex()}
	switch found.Node.Lifecycle {
	case graph.Operational:
		out.presence = "present"
	case graph.Absent:
		out.presence = "absent"
	}
	p.note(call, input{kind: opLookup, tree: r.tree}, out)
}

// poke lets something be appended: a session that is opened in the background.
// Its answer may have to wait for another coordinator.
func (p *player) poke() {
	p.opened++
	name := fmt.Sprintf("p%d-%d", p.id, p.opened)
	p.heard.works(name, 0)
	p.pokes.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		call := p.heard.now()
		answer, err := p.api.OpenSession(ctx, &weaverv1.OpenSessionRequest{
			Actor: name, LeaseMs: time.Hour.Milliseconds(), Intent: &weaverv1.Intent{Objective: "test"},
		})
		out := failure(err)
		out.tx = answer.GetSessionId()
		p.note(call, input{kind: opOpen, session: name}, out)
	})
}
