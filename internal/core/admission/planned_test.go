// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"errors"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// TestMalformedPlans: what cannot be a plan is refused as a whole, and changes
// nothing.
func TestMalformedPlans(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	good := replaceOf("a", "r/g/v", escrow.Collect(escrow.Effect{Bucket: "q", Amount: 1}))
	for name, x := range map[string]struct {
		spoil func(q *Request)
		want  error
	}{
		"locks of its own":    {func(q *Request) { q.Locks = q.Calls[0].Locks }, ErrMalformed},
		"effects of its own":  {func(q *Request) { q.Effects = q.Calls[0].Effects }, ErrMalformed},
		"part of a plan":      {func(q *Request) { q.Plan = "p" }, ErrMalformed},
		"calls out of order":  {func(q *Request) { q.Calls[0], q.Calls[1] = q.Calls[1], q.Calls[0] }, ErrMalformed},
		"a call twice":        {func(q *Request) { q.Calls[1] = q.Calls[0] }, ErrMalformed},
		"a call without name": {func(q *Request) { q.Calls[0].ID = "" }, ErrMalformed},
		"no such action":      {func(q *Request) { q.Calls[0].Action = "change" }, ErrMalformed},
		"a plan in a plan":    {func(q *Request) { q.Calls[0].Action = Reserve }, ErrMalformed},
		"after nothing":       {func(q *Request) { q.Calls[0].After = []CallID{"delete r/g/w"} }, ErrMalformed},
		"after twice":         {func(q *Request) { q.Calls[0].After = append(q.Calls[0].After, q.Calls[0].After...) }, ErrMalformed},
		"after itself":        {func(q *Request) { q.Calls[0].After = []CallID{q.Calls[0].ID} }, ErrMalformed},
		"in a ring":           {func(q *Request) { q.Calls[1].After = []CallID{q.Calls[0].ID} }, ErrMalformed},
		"an empty effect":     {func(q *Request) { q.Calls[0].Effects = escrow.Effects{{Bucket: "q"}} }, escrow.ErrMalformed},
		"no such guard":       {func(q *Request) { q.Calls[0].Guards = []Guard{{Kind: "hope", Node: "r/g/v"}} }, ErrMalformed},
		"a guard elsewhere":   {func(q *Request) { q.Calls[0].Guards = []Guard{{Kind: Present, Node: "r/h"}} }, ErrUndeclared},
		"an object elsewhere": {func(q *Request) { q.Calls[0].Self = "r/h" }, ErrUndeclared},
		"a lock elsewhere":    {func(q *Request) { q.Calls[0].Locks = lock.Plan{{Node: "r/h", Mode: mode.X}} }, ErrUndeclared},
		"no intentions":       {func(q *Request) { q.Calls[0].Locks = lock.Plan{{Node: "r/g/v", Mode: mode.X}} }, ErrMalformed},
	} {
		q := good
		q.Calls = append([]Planned(nil), good.Calls...)
		x.spoil(&q)
		before := m.Hash()
		_, err := m.Apply(Submit{Stamp: m.tick(), ID: "p", Request: q})
		if !errors.Is(err, x.want) || m.Hash() != before {
			t.Errorf("%s: %v", name, err)
		}
	}
	m.submit("p", good)
	for name, x := range map[string]struct {
		q    Request
		want error
	}{
		"of nobody's plan":   {planned(write("a", Delete, "r/g/v"), "x", "delete r/g/v"), ErrNoTx},
		"of another's plan":  {planned(write("b", Delete, "r/g/v"), "p", "delete r/g/v"), ErrNoTx},
		"of no plan":         {planned(write("a", Delete, "r/g/v"), "", "delete r/g/v"), ErrMalformed},
		"not foreseen":       {planned(write("a", Delete, "r/g/v"), "p", "delete r/g/w"), ErrMalformed},
		"with calls":         {func() Request { q := write("a", Delete, "r/g/v"); q.Calls = good.Calls; return q }(), ErrMalformed},
		"with a broken sum":  {func() Request { q := write("a", Delete, "r/g/v"); q.Effects = escrow.Effects{{Bucket: ""}}; return q }(), ErrMalformed},
		"wholly on its own":  {func() Request { q := write("a", Delete, "r/g/v"); q.Whole = true; return q }(), ErrMalformed},
		"of a plan's holder": {planned(write("a", Delete, "r/g/v"), "p", ""), ErrMalformed},
	} {
		if _, err := m.Apply(Submit{Stamp: m.tick(), ID: "c", Request: x.q}); !errors.Is(err, x.want) {
			t.Errorf("a call %s: %v", name, err)
		}
	}
	m.must(Withdraw{Stamp: m.tick(), Tx: "p"})
	late := planned(write("a", Delete, "r/g/v"), "p", "delete r/g/v")
	if _, err := m.Apply(Submit{Stamp: m.tick(), ID: "c", Request: late}); !errors.Is(err, ErrStatus) {
		t.Errorf("a call of a plan that is over: %v", err)
	}
	if _, err := m.Apply(Start{Stamp: m.tick(), Tx: "p", Token: 1}); err == nil {
		t.Error("a reservation was sent")
	}
}
