// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestLoadIsInverseOfWrite: families that are interrupted by others, of few and
// many, come back whole, whatever the stored graph says of its size.
func TestLoadIsInverseOfWrite(t *testing.T) {
	t.Parallel()
	g := New()
	decls := []Decl{{ID: "r", Kind: Realm}, {ID: "s", Kind: Realm}}
	for i := range 200 {
		group := NodeID(fmt.Sprintf("r/g%03d", i))
		decls = append(decls, Decl{ID: group, Parent: "r", Kind: Resource})
		for j := range i % 4 {
			decls = append(decls, Decl{ID: NodeID(fmt.Sprintf("%s/n%d", group, j)), Parent: group, Kind: Resource, Type: "net"})
		}
	}
	decls = append(decls, Decl{ID: PendingOf("x", "a.b"), Parent: "s", Kind: Pending})
	if err := g.Place(decls); err != nil {
		t.Fatal(err)
	}
	want, err := g.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	stored := fmt.Appendf(nil, `"count":%d,`, g.Len())
	for _, count := range []string{string(stored), "", `"count":0,`, `"count":100000,`} {
		back := New()
		if err := back.UnmarshalJSON(bytes.Replace(want, stored, []byte(count), 1)); err != nil {
			t.Fatal(err)
		}
		got, err := back.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) || !slices.Equal(back.Pending(), g.Pending()) || len(back.Children("r")) != 200 {
			t.Errorf("with %q it is\n%s\nnot\n%s", count, got, want)
		}
	}
}

// TestLoadRefuses: what a graph would not place is not loaded.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	const realm = `{"id":"r","kind":"realm"},{"id":"r/a","parent":"r","kind":"resource"},`
	for nodes, want := range map[string]error{
		`{"id":"r/b/c","parent":"r/b","kind":"resource"}`: ErrOrphan,
		`{"id":"r/b","parent":"r","kind":"facet"}`:        ErrShape,
		`{"id":"r/b","parent":"r","kind":"realm"}`:        ErrShape,
		`{"id":"q","kind":"resource"}`:                    ErrShape,
		`{"id":"r/a","parent":"r/a","kind":"resource"}`:   ErrMisplaced,
		`null`: ErrShape,
	} {
		if err := New().UnmarshalJSON([]byte(`{"nodes":[` + realm + nodes + `]}`)); !errors.Is(err, want) {
			t.Errorf("%s: %v, not %v", nodes, err, want)
		}
	}
	if err := New().UnmarshalJSON([]byte(`{"count":"many","nodes":[]}`)); err == nil {
		t.Error("a count that is none is taken")
	}
}
