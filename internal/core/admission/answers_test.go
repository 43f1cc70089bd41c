// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"errors"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// TestAnswersAboutNobody: who asks about what is not known gets an empty answer.
func TestAnswersAboutNobody(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	if c, ok := m.ClaimOf("x"); ok || c.ID != "" {
		t.Errorf("claim %+v", c)
	}
	m.submit("t", write("a", Update, "r/g/v"))
	if c, ok := m.ClaimOf("t"); ok || c.ID != "" {
		t.Errorf("claim %+v", c)
	}
	if m.Readable("x") != 0 || m.BucketRead("x") != 0 || m.Intents("x") != nil {
		t.Error("answers about nothing")
	}
	if _, ok := m.Intent("x"); ok {
		t.Error("an intent that nobody has")
	}
	if err := error(&UnsettledError{Tx: "t"}); !errors.Is(err, ErrUnsettled) {
		t.Errorf("%v", err)
	}
}

// TestReadsOfWhatIsChanged: what a call may be changing is not read over its
// head, however weak the lock is that it has on it; what it only reads is.
func TestReadsOfWhatIsChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		action Action
		lock   mode.Mode
		on     graph.NodeID
		taken  bool
	}{
		{Update, mode.S, "r/g/v", false},
		{Update, mode.IX, "r/g/v", false},
		{Read, mode.S, "r/g/v", true},
		{Read, mode.SIX, "r/g/v", false},
		{Update, mode.X, "r/g/v/~config", false},
		{Update, mode.S, "r/g/v/~config", true},
		{Update, mode.X, "r/g", false},
		{Read, mode.S, "r/g", true},
	} {
		m := newMachine(t, "a", "b")
		m.must(declareOf(m.tick(), "a", []string{"r/g/v"}))
		q := write("a", c.action, c.on)
		if c.on == "r/g/v/~config" {
			q.Self = "r/g/w" // the facet alone says that v is being changed
			q.Nodes = append(q.Nodes, place("r/g/w")...)
		}
		up := newPlacement(graph.New(), q.Nodes)
		q.Locks = lock.Close([]lock.Want{{Node: c.on, Mode: c.lock, Relation: lock.Same, Rule: "sim/lock"}}, up.parent)
		if tx := m.submit("t", q); tx.Status != Admitted {
			t.Fatalf("%+v is %s", c, tx.Status)
		}
		decls := place("r/g/v")
		events := m.must(Observe{
			Stamp: m.tick(), Session: "b", Began: m.Index(), Nodes: decls[:2],
			Objects: []Observation{{Decl: decls[2], Exists: true, Digest: "d"}},
		})
		if n, _ := m.graph.Get("r/g/v"); (n.Digest == "d") != c.taken || c.taken == (len(events) == 0) {
			t.Errorf("%+v: %+v", c, n)
		}
	}
}
