// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

const (
	// maxQueue bounds the observations that wait to be passed on. When more
	// come they are dropped: the next refresh will show them again.
	maxQueue = 4096
	// maxBatch bounds the objects that one message carries.
	maxBatch = 256
	// rest is how long observations are gathered before they are passed on.
	rest = 200 * time.Millisecond
)

// item is one observation, or the wish to be told when all before it were
// passed on.
type item struct {
	object  ruleengine.Object
	began   uint64
	flushed chan struct{}
}

// observer passes observations on in the background.
type observer struct {
	gate    *Gatekeeper
	queue   chan item
	dropped atomic.Int64
	stop    context.CancelFunc
	done    chan struct{}
	closing sync.Once
}

func newObserver(g *Gatekeeper) *observer {
	ctx, stop := context.WithCancel(context.Background())
	o := &observer{gate: g, queue: make(chan item, maxQueue), stop: stop, done: make(chan struct{})}
	go o.work(ctx)
	return o
}

// Planned implements intercept.Watcher; the plan file says more.
func (g *Gatekeeper) Planned(context.Context, string, string) {}

// Stopping implements intercept.Watcher; waiting calls learn of it by the end
// of their context.
func (g *Gatekeeper) Stopping(context.Context, string) {}

// Read passes on what a refresh saw.
func (g *Gatekeeper) Read(_ context.Context, provider, resourceType string, before, after, providerConfig cty.Value) {
	object := ruleengine.Object{Provider: provider, ProviderConfig: providerConfig, Type: resourceType, State: after}
	if !exists(after) {
		if !exists(before) {
			return
		}
		object.State, object.Gone = before, true
	}
	g.watched.add(object, g.began.Load())
}

// Imported passes on what an import saw.
func (g *Gatekeeper) Imported(_ context.Context, provider, resourceType, _ string, state, providerConfig cty.Value) {
	if !exists(state) {
		return
	}
	g.watched.add(ruleengine.Object{Provider: provider, ProviderConfig: providerConfig, Type: resourceType, State: state}, g.began.Load())
}

func (o *observer) add(object ruleengine.Object, began uint64) {
	select {
	case o.queue <- item{object: object, began: began}:
	default:
		o.dropped.Add(1)
	}
}

// flush waits until everything that was added before was passed on.
func (o *observer) flush(ctx context.Context) {
	flushed := make(chan struct{})
	select {
	case o.queue <- item{flushed: flushed}:
	case <-o.done:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-flushed:
	case <-o.done:
	case <-ctx.Done():
	}
}

func (o *observer) close(ctx context.Context) {
	o.closing.Do(func() {
		o.flush(ctx)
		o.stop()
		<-o.done
		if n := o.dropped.Load(); n > 0 {
			o.gate.log.Warn("observations dropped", "count", n)
		}
	})
}

func (o *observer) work(ctx context.Context) {
	defer close(o.done)
	tick := time.NewTicker(rest)
	defer tick.Stop()
	var b batch
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			b.send(ctx, o.gate)
		case it := <-o.queue:
			if it.flushed != nil {
				b.send(ctx, o.gate)
				close(it.flushed)
				continue
			}
			if it.began != b.began || len(b.objects) >= maxBatch {
				b.send(ctx, o.gate)
			}
			b.add(ctx, it, o.gate)
		}
	}
}

// batch is what goes into one message: observations of one beginning.
type batch struct {
	began   uint64
	nodes   []graph.Decl
	placed  map[graph.NodeID]bool
	objects []admission.Observation
}

func (b *batch) add(ctx context.Context, it item, g *Gatekeeper) {
	schema, err := g.schema(ctx, it.object)
	if err != nil {
		g.log.Warn("schema not known", "type", it.object.Type, "error", err)
		return
	}
	it.object.Sensitive = sensitive(schema)
	seen, ok, err := g.engine.See(it.object)
	if err != nil {
		g.log.Warn("object not understood", "type", it.object.Type, "error", err)
	}
	if err != nil || !ok {
		return
	}
	if b.placed == nil {
		b.placed = map[graph.NodeID]bool{}
	}
	b.began = it.began
	for _, d := range seen.Nodes {
		if !b.placed[d.ID] {
			b.placed[d.ID] = true
			b.nodes = append(b.nodes, d)
		}
	}
	b.objects = append(b.objects, seen.Observation)
}

// sensitive are the secret paths of a type; the zero set is not usable.
func sensitive(schema *intercept.Schema) cty.PathSet {
	if schema == nil || schema.Sensitive.Empty() {
		return cty.NewPathSet()
	}
	return schema.Sensitive
}

// errNoSchemas: nobody said where schemas are to be had.
var errNoSchemas = errors.New("no source of schemas")

func (g *Gatekeeper) schema(ctx context.Context, object ruleengine.Object) (*intercept.Schema, error) {
	g.mu.Lock()
	schemas := g.schemas
	g.mu.Unlock()
	if schemas == nil {
		return nil, errNoSchemas
	}
	return schemas(ctx, object.Provider, object.Type)
}

func (b *batch) send(ctx context.Context, g *Gatekeeper) {
	if len(b.objects) == 0 {
		return
	}
	if _, err := g.session.Observe(ctx, b.began, b.nodes, b.objects); err != nil && ctx.Err() == nil {
		g.log.Warn("observations not passed on", "count", len(b.objects), "error", err)
	}
	*b = batch{}
}
