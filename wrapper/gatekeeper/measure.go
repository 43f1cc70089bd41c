// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// measure reads the owners of buckets of which nothing was read lately, so that
// capacity is judged by what is so now. What cannot be read stays as it is
// known; of what nobody knows nothing is refused.
func (g *Gatekeeper) measure(ctx context.Context, buckets []ruleengine.Bucket) {
	if len(buckets) == 0 {
		return
	}
	if failed := g.remeasure(ctx, g.unread(ctx, buckets)); len(failed) > 0 {
		g.capacity.Do(func() { g.view.Problem(unwatched(failed)) })
	}
}

// unread are the buckets of which nothing was read lately.
func (g *Gatekeeper) unread(ctx context.Context, buckets []ruleengine.Bucket) []ruleengine.Bucket {
	var keys []escrow.Key
	for _, b := range buckets {
		keys = append(keys, b.Key)
	}
	began, err := g.session.Moment(ctx)
	if err != nil {
		g.log.WarnContext(ctx, "age of readings not known", "error", err)
		return nil
	}
	known, err := g.session.Buckets(ctx, keys...)
	if err != nil {
		g.log.WarnContext(ctx, "age of readings not known", "error", err)
		return nil
	}
	fresh := map[escrow.Key]bool{}
	for _, b := range known {
		fresh[b.Bucket] = b.ReadAt != 0 && time.Duration(began.At-b.ReadAt) <= freshness
	}
	var old []ruleengine.Bucket
	for _, b := range buckets {
		if !fresh[b.Key] {
			old = append(old, b)
		}
	}
	return old
}

// unwatched is a note that some capacity can only be judged by what was known
// before, if anything.
func unwatched(failed map[graph.NodeID]error) views.Problem {
	var lines []string
	for _, id := range slices.Sorted(maps.Keys(failed)) {
		lines = append(lines, string(id)+": "+failed[id].Error())
	}
	return views.Problem{
		Warning: true, Summary: "Capacity that cannot be read",
		Detail: "Whether these have room is judged by what other runs have seen; what nobody has seen delays and refuses nothing.\n\n" + strings.Join(lines, "\n"),
	}
}

// remeasure reads the owners of buckets, each once.
func (g *Gatekeeper) remeasure(ctx context.Context, buckets []ruleengine.Bucket) (failed map[graph.NodeID]error) {
	return g.refreshAll(ctx, owners(buckets))
}

// owners are the objects that buckets belong to, each once.
func owners(buckets []ruleengine.Bucket) []graph.Decl {
	var list []graph.Decl
	for _, b := range buckets {
		if !slices.ContainsFunc(list, func(n graph.Decl) bool { return n.ID == b.Owner.ID }) {
			list = append(list, b.Owner)
		}
	}
	return list
}

// refreshAll reads objects, a few at a time. What cannot be read stays as it is
// known.
func (g *Gatekeeper) refreshAll(ctx context.Context, nodes []graph.Decl) (failed map[graph.NodeID]error) {
	var (
		work sync.WaitGroup
		mu   sync.Mutex
	)
	failed = map[graph.NodeID]error{}
	for _, node := range nodes {
		work.Go(func() {
			if err := g.refresh(ctx, node); err != nil {
				g.log.InfoContext(ctx, "object not read anew", "node", node.ID, "error", err)
				mu.Lock()
				defer mu.Unlock()
				failed[node.ID] = err
			}
		})
	}
	work.Wait()
	return failed
}

// refresh reads an object and tells the coordinator.
func (g *Gatekeeper) refresh(ctx context.Context, node graph.Decl) error {
	r, err := g.read(ctx, node)
	if err != nil {
		return err
	}
	return g.observe(ctx, r)
}
