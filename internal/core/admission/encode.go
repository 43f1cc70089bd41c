// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"encoding/json"

	"github.com/tfweaver/tfweaver/internal/core/document"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// appendValue appends the JSON form of a command or an event: the bytes that
// encoding/json writes. What every call leaves in the journal is written without
// reflection, which takes a third of the time.
func appendValue(b []byte, v any) ([]byte, error) {
	m := document.Begin(b)
	switch v := v.(type) {
	case TxSubmitted:
		m.Key("tx")
		var err error
		if m.Bytes, err = appendTx(m.Bytes, &v.Tx); err != nil {
			return nil, err
		}
	case TxAdmitted:
		m.Text("tx", string(v.Tx))
		m.Count("token", v.Token)
		m.Time("at", v.At)
	case TxStarted:
		m.Text("tx", string(v.Tx))
		m.Time("at", v.At)
	case TxEnded:
		v.members(&m)
	case briefSubmit:
		m.Time("now", v.Now)
		m.Text("id", string(v.ID))
		if v.Request != nil {
			m.Value("request", v.Request)
		}
		m.MaybeFlag("first_intent", v.First)
	case Start:
		m.Time("now", v.Now)
		m.Text("tx", string(v.Tx))
		m.Count("token", v.Token)
	case Complete:
		v.members(&m)
	case Withdraw:
		m.Time("now", v.Now)
		m.Text("tx", string(v.Tx))
		m.MaybeText("cause", v.Cause)
	default:
		data, err := json.Marshal(v)
		return append(b, data...), err
	}
	return m.End()
}

func (e *TxEnded) members(m *document.Members) {
	m.Text("tx", string(e.Tx))
	m.Time("at", e.At)
	m.Text("status", string(e.Status))
	m.Flag("exists", e.Exists)
	m.Flag("settled", e.Settled)
	maybeBind(m, e.Bind)
	m.MaybeFlag("collision", e.Collision)
	m.MaybeText("digest", e.Digest)
	m.MaybeText("cause", e.Cause)
	m.MaybeText("by", e.By)
	m.MaybeText("reason", e.Reason)
}

func (c *Complete) members(m *document.Members) {
	m.Time("now", c.Now)
	m.Text("tx", string(c.Tx))
	m.Count("token", c.Token)
	m.Text("result", string(c.Result))
	m.Flag("exists", c.Exists)
	maybeBind(m, c.Bind)
	m.MaybeText("digest", c.Digest)
}

func maybeBind(m *document.Members, d graph.Decl) {
	if d != (graph.Decl{}) {
		m.Value("bind", d)
	}
}

func appendTx(b []byte, t *Tx) ([]byte, error) {
	m := document.Begin(b)
	m.Text("id", string(t.ID))
	t.Request.members(&m)
	m.Count("ticket", t.Ticket)
	m.Text("status", string(t.Status))
	m.MaybeCount("token", t.Token)
	m.Time("submitted_at", t.SubmittedAt)
	m.MaybeTime("admitted_at", t.AdmittedAt)
	m.MaybeTime("started_at", t.StartedAt)
	m.MaybeTime("ended_at", t.EndedAt)
	document.MaybeList(&m, "blockers", t.Blockers)
	m.MaybeText("cause", t.Cause)
	m.MaybeText("before", string(t.Before))
	m.MaybeCount("started_index", t.StartedIndex)
	m.MaybeText("by", t.By)
	m.MaybeText("reason", t.Reason)
	m.MaybeFlag("exists", t.Exists)
	m.MaybeCount("rank", t.Rank)
	m.MaybeText("claim", string(t.Claim))
	if t.Passed != nil {
		m.Value("passed", t.Passed)
	}
	document.MaybeList(&m, "delayed", t.Delayed)
	return m.End()
}

func (r *Request) members(m *document.Members) {
	m.Text("session", string(r.Session))
	m.MaybeText("intent", string(r.Intent))
	m.Count("key", r.Key)
	m.Text("address", r.Address)
	m.Text("type", r.Type)
	m.Text("action", string(r.Action))
	m.Text("self", string(r.Self))
	document.List(m, "nodes", r.Nodes, graph.AppendDecl)
	document.List(m, "locks", r.Locks, appendWant)
	document.MaybeList(m, "guards", r.Guards)
	document.MaybeList(m, "edges", r.Edges)
	m.MaybeFlag("keep_edges", r.KeepEdges)
	document.MaybeList(m, "add_edges", r.AddEdges)
	document.MaybeList(m, "drop_edges", r.DropEdges)
	document.MaybeList(m, "effects", r.Effects)
	m.MaybeText("plan", string(r.Plan))
	m.MaybeText("call", string(r.Call))
	document.MaybeList(m, "calls", r.Calls)
	m.MaybeFlag("whole", r.Whole)
	m.MaybeFlag("advisory", r.Advisory)
	m.MaybeTime("lands", r.Lands)
	m.MaybeTime("timeout", r.Timeout)
}

func appendWant(b []byte, w *lock.Want) ([]byte, error) {
	m := document.Begin(b)
	m.Text("node", string(w.Node))
	if _, err := mode.Parse(w.Mode.String()); err != nil {
		return nil, err // a mode that there is not
	}
	m.Text("mode", w.Mode.String())
	m.Text("relation", string(w.Relation))
	m.MaybeText("rule", w.Rule)
	m.MaybeText("class", w.Class)
	return m.End()
}
