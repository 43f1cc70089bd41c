// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

func withSchemas(r rig) {
	r.UseSchemas(func(context.Context, string, string) (*intercept.Schema, error) {
		return &intercept.Schema{Sensitive: cty.NewPathSet(cty.GetAttrPath("secret"))}, nil
	})
}

func TestReadsArePassedOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	withSchemas(r)
	r.session.index = 42
	if err := r.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	null := cty.NullVal(object("").Type())
	r.Read(t.Context(), "p", "t", object("/net/a"), object("/net/a"), cty.NilVal)
	r.Read(t.Context(), "p", "t", object("/net/b"), null, cty.NilVal)
	r.Read(t.Context(), "p", "t", null, null, cty.NilVal)
	r.Imported(t.Context(), "p", "t", "c", object("/net/c"), cty.NilVal)
	r.Imported(t.Context(), "p", "t", "d", null, cty.NilVal)
	r.Flush(t.Context())
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	var all observation
	for _, o := range r.session.observed {
		if o.began != 42 {
			t.Errorf("began %d, want the index before the CLI started", o.began)
		}
		all.objects = append(all.objects, o.objects...)
	}
	decl := func(id graph.NodeID) graph.Decl {
		return graph.Decl{ID: id, Parent: netID, Kind: graph.Resource, Type: "t"}
	}
	want := []admission.Observation{
		{Decl: decl("/net/a"), Exists: true, Digest: "without secret"},
		{Decl: decl("/net/b"), Digest: "without secret"},
		{Decl: decl("/net/c"), Exists: true, Digest: "without secret"},
	}
	if diff := cmp.Diff(want, all.objects); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
	if nodes := r.session.observed[0].nodes; nodes[0].ID != netID {
		t.Errorf("the parent does not come first: %v", nodes)
	}
}

func TestNothingIsObservedWithoutASchema(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.Read(t.Context(), "p", "t", object("/net/a"), object("/net/a"), cty.NilVal)
	r.Flush(t.Context())
	if n := len(r.session.observed); n != 0 {
		t.Errorf("%d observations whose secrets are not known were passed on", n)
	}
}

func TestObjectsWithoutARuleAreSkipped(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Engine = fakeEngine{err: errors.New("no realm")} })
	withSchemas(r)
	r.Read(t.Context(), "p", "t", object("/net/a"), object("/net/a"), cty.NilVal)
	r.Flush(t.Context())
	if n := len(r.session.observed); n != 0 {
		t.Errorf("%d observations", n)
	}
}

func TestObservingNeverBlocks(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	stop := make(chan struct{})
	r.UseSchemas(func(context.Context, string, string) (*intercept.Schema, error) {
		<-stop
		return &intercept.Schema{}, nil
	})
	for range maxQueue + 10 {
		r.Read(t.Context(), "p", "t", object("/net/a"), object("/net/a"), cty.NilVal)
	}
	if r.watched.dropped.Load() == 0 {
		t.Error("nothing was dropped")
	}
	close(stop)
}

func TestFlushAfterCloseReturns(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.Close(t.Context())
	r.Close(t.Context())
	r.Flush(t.Context())
}

func TestConfigsAreRememberedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.Configured(t.Context(), "p", object("a"))
	r.Configured(t.Context(), "p", object("a"))
	r.Configured(t.Context(), "p", object("b"))
	if n := len(r.Configs("p")); n != 2 || len(r.Configs("q")) != 0 {
		t.Errorf("%d configurations", n)
	}
}

func TestNeighbours(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	peer := graph.Decl{ID: "/net/peer", Parent: netID}
	r.session.found = map[graph.NodeID]coordinator.Found{
		subnetID: {
			Known: true, Node: graph.Node{Version: 7},
			Out: []graph.Edge{{From: subnetID, To: peer.ID, Kind: graph.Routes}, {From: subnetID, To: "/net/x", Kind: graph.Depends}},
			In:  []graph.Edge{{From: "/net/unknown", To: subnetID, Kind: graph.Routes}},
		},
		peer.ID: {Known: true, Node: graph.Node{Decl: peer}},
	}
	got, version, known, err := r.live.Neighbours(t.Context(), subnetID, graph.Routes, true)
	if err != nil || !known || version != 7 {
		t.Fatalf("version %d, known %v, %v", version, known, err)
	}
	if diff := cmp.Diff([]graph.Decl{peer}, got); diff != "" {
		t.Errorf("out (-want +got):\n%s", diff)
	}
	got, _, _, err = r.live.Neighbours(t.Context(), subnetID, graph.Routes, false)
	if err != nil || len(got) != 0 {
		t.Errorf("in: %v, %v; a node without a place is none", got, err)
	}
	if _, _, known, _ = r.live.Neighbours(t.Context(), "/never", graph.Routes, true); known {
		t.Error("a node that nobody has seen is known")
	}
}
