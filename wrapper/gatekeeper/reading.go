// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

const (
	// maxReads bounds the reads that go on at the same time: they use the same
	// quota of the cloud's API as the run itself.
	maxReads = 8
	// readPatience bounds one read.
	readPatience = time.Minute
)

// Reader reads single objects with the credentials of this run.
type Reader interface {
	// Read imports and reads an object. That it is not there is no error.
	Read(ctx context.Context, target intercept.Target) (intercept.Object, error)
}

// reads bounds what is read at the same time.
type reads struct{ slots chan struct{} }

// reading is what a read of one object showed.
type reading struct {
	began  coordinator.Moment
	exists bool
	// terminal: no operation on the object is in progress any more.
	terminal bool
	seen     ruleengine.Seen
}

// unreadableError says why this run cannot read an object at all; its text is
// a part of a sentence.
type unreadableError struct{ why string }

// Error is the reason.
func (e *unreadableError) Error() string { return e.why }

// source is how this run can read an object.
type source struct {
	reader Reader
	config cty.Value
	how    ruleengine.Target
}

// source finds a provider and a configuration of this run that reach the
// object of a node: the same import id may name different objects in two
// accounts. The error is *unreadableError.
func (g *Gatekeeper) source(node graph.Decl) (source, error) {
	g.mu.Lock()
	reader, configs := g.reader, maps.Clone(g.configs)
	g.mu.Unlock()
	if reader == nil {
		return source{}, &unreadableError{"this run has no way to read single objects"}
	}
	why := error(&unreadableError{"no provider of this run is configured yet"})
	for _, provider := range slices.Sorted(maps.Keys(configs)) {
		for _, config := range configs[provider] {
			how, err := g.engine.ReadBack(provider, config, node)
			if err == nil {
				return source{reader, config, how}, nil
			}
			why = unreadable(err)
		}
	}
	return source{}, why
}

// unreadable is the engine's reason without the name of the object.
func unreadable(err error) error {
	var known *ruleengine.UnreadableError
	if errors.As(err, &known) {
		return &unreadableError{known.Reason}
	}
	return &unreadableError{err.Error()}
}

// read reads the object of a node, and what it shows is observed. The error is
// *unreadableError when it is of no use to try again.
func (g *Gatekeeper) read(ctx context.Context, node graph.Decl) (reading, error) {
	from, err := g.source(node)
	if err != nil {
		return reading{}, err
	}
	select {
	case g.reads.slots <- struct{}{}:
		defer func() { <-g.reads.slots }()
	case <-ctx.Done():
		return reading{}, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	r := reading{terminal: true}
	if r.began, err = g.session.Moment(ctx); err != nil {
		return reading{}, fmt.Errorf("ask for the place in the journal: %w", err)
	}
	object, err := from.reader.Read(ctx, intercept.Target{
		Provider: from.how.Provider, Config: from.config, Type: from.how.Type, ID: from.how.ImportID,
	})
	if err != nil {
		return reading{}, fmt.Errorf("read %s: %w", node.ID, err)
	}
	if r.exists = object.Exists; !r.exists {
		r.seen.Observation = admission.Observation{Decl: node}
		return r, nil
	}
	return r, g.understand(ctx, from, node, object, &r)
}

// errOther: what was read is not the object that was asked for.
var errOther = errors.New("the read showed another object")

// understand adds to a reading what the rules see in the object.
func (g *Gatekeeper) understand(ctx context.Context, from source, node graph.Decl, object intercept.Object, r *reading) error {
	o := ruleengine.Object{Provider: from.how.Provider, ProviderConfig: from.config, Type: from.how.Type, State: object.State}
	schema, err := g.schema(ctx, o)
	if err != nil {
		return fmt.Errorf("schema of %s: %w", o.Type, err)
	}
	o.Sensitive = sensitive(schema)
	if id, ok := plainText(intercept.Call{Schema: schema}, object.State, "id"); ok {
		g.spells(node.ID, id)
	}
	seen, ok, err := g.engine.See(o)
	if err != nil {
		return fmt.Errorf("understand %s: %w", node.ID, err)
	}
	if !ok {
		return &unreadableError{"the rules do not recognise what was read"}
	}
	if id := seen.Observation.Decl.ID; node.Kind == graph.Resource && id != node.ID {
		return fmt.Errorf("%w: %s in place of %s", errOther, id, node.ID)
	}
	r.seen, r.terminal = seen, seen.Terminal
	return nil
}

// observe reports a reading to the coordinator: the object as it is, and what
// it says about capacity.
func (g *Gatekeeper) observe(ctx context.Context, r reading) error {
	nodes, seen := r.seen.Nodes, r.seen.Observation
	if !r.exists {
		var err error
		if nodes, err = g.ancestry(ctx, seen.Decl.ID); err != nil || len(nodes) == 0 {
			return err // of what nobody knows nobody has to know that it is gone
		}
		seen.Decl = nodes[len(nodes)-1]
	}
	if _, err := g.session.Observe(ctx, r.began.Index, nodes, []admission.Observation{seen}); err != nil {
		return err
	}
	if len(r.seen.Readings) == 0 {
		return nil
	}
	return g.session.Measure(ctx, r.began.Index, r.seen.Readings)
}

// maxDepth bounds a way up the forest.
const maxDepth = 64

// ancestry is a node and what contains it, as the coordinator places them,
// parents first.
func (g *Gatekeeper) ancestry(ctx context.Context, id graph.NodeID) ([]graph.Decl, error) {
	var chain []graph.Decl
	for at := id; at != "" && len(chain) < maxDepth; {
		found, _, err := g.session.Lookup(ctx, at)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 || !found[0].Known {
			break
		}
		chain = append(chain, found[0].Node.Decl)
		at = found[0].Node.Parent
	}
	slices.Reverse(chain)
	return chain, nil
}
