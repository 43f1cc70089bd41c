// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// TestScripts runs the scenarios of testdata/admission. Each is a story in the
// words of the protocol, with every decision as expected output. Behind each
// step the journal so far is folded anew from its encoded form, and must give
// the same hash as the machine that decided (I14).
//
// Paths stand for nodes: "r/g/v" is v in g in realm r, "r/g/v/~life" a facet,
// "r/g/~name/vm/web" a name.
func TestScripts(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/admission", func(t *testing.T, path string) {
		t.Parallel()
		w := newWorld(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w.t = t
			return w.run(d)
		})
	})
}

// world is a machine with a replica that only ever sees its journal.
type world struct {
	t       *testing.T
	state   *State
	replica *State
	journal [][]byte
	now     int64
	step    int64 // between two commands
	keys    uint64
}

func newWorld(t *testing.T) *world {
	return &world{t: t, state: New(), replica: New(), now: int64(time.Second), step: int64(time.Second)}
}

func (w *world) run(d *datadriven.TestData) string {
	switch d.Cmd {
	case "advance", "step":
		dur, err := time.ParseDuration(d.CmdArgs[0].Key)
		switch {
		case err != nil:
			return err.Error()
		case d.Cmd == "step":
			w.step = int64(dur)
		default:
			w.now += int64(dur)
		}
		return ""
	case "state":
		return w.dump()
	case "nodes":
		return w.nodes()
	case "why":
		return w.why(TxID(d.CmdArgs[0].Key))
	case "forecast":
		return w.forecast(d)
	case "restart":
		return w.restart()
	default:
		c, err := w.command(d)
		if err != nil {
			return "bad script: " + err.Error()
		}
		return w.apply(c)
	}
}

// apply runs a command, and prints its events. The next one comes a second
// later, or what step says.
func (w *world) apply(c Command) string {
	events, err := w.state.Apply(c)
	w.now += w.step
	if err != nil {
		return "error: " + err.Error()
	}
	if len(events) == 0 {
		return "nothing"
	}
	w.record(c, events)
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintln(&b, describe(e))
	}
	return b.String()
}

func (w *world) record(c Command, events []Event) {
	data, err := EncodeRecord(Record{Index: w.state.Index(), Now: w.state.Now(), Command: c, Events: events})
	if err != nil {
		w.t.Fatalf("encode: %v", err)
	}
	w.journal = append(w.journal, data)
	r, err := DecodeRecord(data)
	if err != nil {
		w.t.Fatalf("decode: %v", err)
	}
	if err := w.replica.Fold(r.Index, r.Now, r.Events); err != nil {
		w.t.Fatalf("fold: %v", err)
	}
	if w.replica.Hash() != w.state.Hash() {
		a, _ := json.Marshal(w.state)
		b, _ := json.Marshal(w.replica)
		w.t.Fatalf("the replica differs\n%s\n%s", a, b)
	}
}

// restart goes on with a machine that was read from a snapshot taken half-way
// and from the records behind it.
func (w *world) restart() string {
	fresh := New()
	for i, data := range w.journal {
		r, err := DecodeRecord(data)
		if err == nil {
			err = fresh.Fold(r.Index, r.Now, r.Events)
		}
		if err == nil && i == len(w.journal)/2 {
			fresh, err = reread(fresh)
		}
		if err != nil {
			return err.Error()
		}
	}
	if fresh.Hash() != w.state.Hash() {
		return "differs"
	}
	w.state = fresh
	return "equal"
}

func reread(s *State) (*State, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	fresh := New()
	return fresh, json.Unmarshal(data, fresh)
}

func (w *world) command(d *datadriven.TestData) (Command, error) {
	at := Stamp{Now: w.now}
	first := ""
	if len(d.CmdArgs) > 0 && len(d.CmdArgs[0].Vals) == 0 {
		first = d.CmdArgs[0].Key
	}
	switch d.Cmd {
	case "open":
		return w.open(at, first, d), nil
	case "renew":
		return Renew{Stamp: at, Session: SessionID(first), Phase: arg(d, "phase", "")}, nil
	case "close":
		return CloseSession{Stamp: at, Session: SessionID(first)}, nil
	case "expire":
		return Expire{Stamp: at}, nil
	case "declare":
		return declareOf(at, SessionID(first), lines(d)), nil
	case "submit":
		q, err := w.request(d)
		return Submit{Stamp: at, ID: TxID(first), Request: q}, err
	case "start":
		return Start{Stamp: at, Tx: TxID(first), Token: w.token(d, first)}, nil
	case "complete":
		return w.completion(at, first, d), nil
	case "withdraw":
		return Withdraw{Stamp: at, Tx: TxID(first), Cause: arg(d, "cause", "")}, nil
	case "resolve":
		return Resolve{
			Stamp: at, Tx: TxID(first), Actor: arg(d, "actor", ""), Reason: strings.TrimSpace(d.Input), Exists: d.HasArg("exists"),
		}, nil
	case "observe":
		return w.observation(at, SessionID(first), d)
	case "measure":
		return w.measurement(at, SessionID(first), d)
	case "died":
		return Deceased{Stamp: at, Session: SessionID(first)}, nil
	case "settle":
		began, _ := strconv.ParseUint(arg(d, "began", strconv.FormatUint(w.state.Index(), 10)), 10, 64)
		return Settle{
			Stamp: at, Session: SessionID(arg(d, "session", "")), Tx: TxID(first), Began: began, BeganAt: w.state.Now(),
			Exists: d.HasArg("exists"), Terminal: !d.HasArg("in-progress"),
		}, nil
	case "pass":
		return Pass{
			Stamp: at, Tx: TxID(first), Mode: arg(d, "mode", "override"), By: arg(d, "by", ""), Reason: strings.TrimSpace(d.Input),
		}, nil
	default:
		return nil, fmt.Errorf("no command %q", d.Cmd)
	}
}

func (w *world) open(at Stamp, id string, d *datadriven.TestData) Command {
	lease, _ := time.ParseDuration(arg(d, "lease", "10m"))
	return OpenSession{
		Stamp: at,
		Session: Session{
			ID: SessionID(id), Actor: arg(d, "actor", id), Origin: arg(d, "origin", "state-"+id),
			Policy: Policy(arg(d, "policy", "")), Lease: int64(lease),
		},
		Intent: Intent{ID: IntentID("i-" + id), Objective: strings.TrimSpace(d.Input)},
	}
}

func declareOf(at Stamp, id SessionID, paths []string) Command {
	c := Declare{Stamp: at, Session: id}
	for _, p := range paths {
		c.Creates = append(c.Creates, place(graph.NodeID(p))...)
		c.Selves = append(c.Selves, graph.NodeID(p))
	}
	return c
}

// request reads "submit ID session=S do=create self=PATH [key=N]" and lines of
// "lock PATH MODE [relation]", "guard KIND PATH [value]", "ref PATH KIND PATH",
// "add ..." and "drop ...", "effect BUCKET AMOUNT", and for do=reserve "call ID
// self=PATH do=ACTION [group=G] [after=ID,ID] [effect=BUCKET:AMOUNT]
// [lock=PATH:MODE]".
func (w *world) request(d *datadriven.TestData) (Request, error) {
	self := graph.NodeID(arg(d, "self", ""))
	w.keys++
	number, _ := strconv.ParseUint(arg(d, "key", strconv.FormatUint(w.keys, 10)), 10, 64)
	q := Request{
		Session: SessionID(arg(d, "session", "")), Key: number, Action: Action(arg(d, "do", "create")),
		Address: arg(d, "address", string(self)), Type: arg(d, "type", "sim_thing"), Self: self,
		KeepEdges: d.HasArg("keep-edges"),
		Plan:      TxID(arg(d, "plan", "")), Call: CallID(arg(d, "call", "")),
		Whole: d.HasArg("whole"), Advisory: d.HasArg("advisory"),
	}
	nodes := place(self)
	var wants []lock.Want
	for _, l := range lines(d) {
		f := append(strings.Fields(l), "", "", "")
		switch f[0] {
		case "lock":
			m, err := mode.Parse(f[2])
			if err != nil {
				return q, err
			}
			rel := lock.Relation(f[3])
			if rel == "" {
				rel = lock.Same
			}
			nodes = append(nodes, place(graph.NodeID(f[1]))...)
			wants = append(wants, lock.Want{Node: graph.NodeID(f[1]), Mode: m, Relation: rel, Rule: "sim/" + string(q.Action)})
		case "guard":
			v, _ := strconv.ParseUint(f[3], 10, 64)
			nodes = append(nodes, place(graph.NodeID(f[2]))...)
			q.Guards = append(q.Guards, Guard{Kind: GuardKind(f[1]), Node: graph.NodeID(f[2]), Value: v})
		case "ref", "add", "drop":
			e := graph.Edge{From: graph.NodeID(f[1]), Kind: graph.EdgeKind(f[2]), To: graph.NodeID(f[3])}
			nodes = append(append(nodes, place(e.From)...), place(e.To)...)
			list := map[string]*[]graph.Edge{"ref": &q.Edges, "add": &q.AddEdges, "drop": &q.DropEdges}[f[0]]
			*list = append(*list, e)
		case "effect":
			q.Effects = escrow.Collect(append(q.Effects, effectOf(f[1]+":"+f[2]))...)
		case "call":
			q.Calls = append(q.Calls, callOf(f, &nodes))
		default:
			return q, fmt.Errorf("line %q", l)
		}
	}
	q.Nodes = nodes
	up := newPlacement(w.state.graph, nodes)
	q.Locks = lock.Close(wants, up.parent)
	return q, nil
}

// callOf reads a line of a plan; its locks are X on its object and what it says.
func callOf(fields []string, nodes *[]graph.Decl) Planned {
	c := Planned{ID: CallID(fields[1])}
	var wants []lock.Want
	for _, f := range fields[2:] {
		name, value, _ := strings.Cut(f, "=")
		switch name {
		case "self":
			c.Self = graph.NodeID(value)
			*nodes = append(*nodes, place(c.Self)...)
			wants = append(wants, lock.Want{Node: c.Self, Mode: mode.X, Relation: lock.Same, Rule: "sim/plan"})
		case "do":
			c.Action = Action(value)
		case "group":
			c.Group = value
		case "after":
			for _, a := range strings.Split(value, ",") {
				c.After = append(c.After, CallID(a))
			}
		case "effect":
			c.Effects = escrow.Collect(append(c.Effects, effectOf(value))...)
		case "lock":
			path, m, _ := strings.Cut(value, ":")
			parsed, _ := mode.Parse(m)
			*nodes = append(*nodes, place(graph.NodeID(path))...)
			wants = append(wants, lock.Want{Node: graph.NodeID(path), Mode: parsed, Relation: lock.Rule, Rule: "sim/plan"})
		case "guard":
			kind, path, _ := strings.Cut(value, ":")
			path, v, _ := strings.Cut(path, ":")
			n, _ := strconv.ParseUint(v, 10, 64)
			*nodes = append(*nodes, place(graph.NodeID(path))...)
			c.Guards = append(c.Guards, Guard{Kind: GuardKind(kind), Node: graph.NodeID(path), Value: n})
		}
	}
	c.Locks = lock.Close(wants, newPlacement(graph.New(), *nodes).parent)
	return c
}

func effectOf(text string) escrow.Effect {
	bucket, amount, _ := strings.Cut(text, ":")
	n, _ := strconv.ParseInt(amount, 10, 64)
	return escrow.Effect{Bucket: escrow.Key(bucket), Amount: n}
}

// measurement reads lines of "BUCKET [limit=N] [use=N]".
func (w *world) measurement(at Stamp, id SessionID, d *datadriven.TestData) (Command, error) {
	began, _ := strconv.ParseUint(arg(d, "began", strconv.FormatUint(w.state.Index(), 10)), 10, 64)
	c := Measure{Stamp: at, Session: id, Began: began}
	for _, l := range lines(d) {
		f := strings.Fields(l)
		r := Reading{Bucket: escrow.Key(f[0])}
		for _, word := range f[1:] {
			name, value, _ := strings.Cut(word, "=")
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return nil, err
			}
			if name == "limit" {
				r.Limit = escrow.At(n)
			} else {
				r.Use = escrow.At(n)
			}
		}
		c.Readings = append(c.Readings, r)
	}
	return c, nil
}

func (w *world) token(d *datadriven.TestData, id string) uint64 {
	if s := arg(d, "token", ""); s != "" {
		n, _ := strconv.ParseUint(s, 10, 64)
		return n
	}
	tx, _ := w.state.Tx(TxID(id))
	return tx.Token
}

func (w *world) completion(at Stamp, id string, d *datadriven.TestData) Command {
	c := Complete{
		Stamp: at, Tx: TxID(id), Token: w.token(d, id), Result: Result(arg(d, "result", "succeeded")),
		Exists: d.HasArg("exists"), Digest: arg(d, "digest", ""),
	}
	if b := graph.NodeID(arg(d, "bind", "")); b != "" {
		decls := place(b)
		c.Bind = decls[len(decls)-1]
	}
	return c
}

// observation reads lines of "PATH exists|gone [digest=D] [-> PATH ...]".
func (w *world) observation(at Stamp, id SessionID, d *datadriven.TestData) (Command, error) {
	began, _ := strconv.ParseUint(arg(d, "began", strconv.FormatUint(w.state.Index(), 10)), 10, 64)
	c := Observe{Stamp: at, Session: id, Began: began}
	for _, l := range lines(d) {
		f := strings.Fields(l)
		decls := place(graph.NodeID(f[0]))
		o := Observation{Decl: decls[len(decls)-1], Exists: f[1] == "exists", Edges: []graph.Edge{}}
		c.Nodes = append(c.Nodes, decls[:len(decls)-1]...)
		for i, word := range f[2:] {
			if v, ok := strings.CutPrefix(word, "digest="); ok {
				o.Digest = v
			}
			if v, ok := strings.CutPrefix(word, "address="); ok {
				o.Address = v
			}
			if word == "->" {
				for _, to := range f[2+i+1:] {
					o.Edges = append(o.Edges, graph.Edge{From: o.Decl.ID, To: graph.NodeID(to), Kind: graph.References})
				}
				break
			}
		}
		c.Objects = append(c.Objects, o)
	}
	return c, nil
}

// place declares a path and everything above it.
func place(id graph.NodeID) []graph.Decl {
	if id == "" {
		return nil
	}
	if rest, ok := strings.CutPrefix(string(id), "~pending/"); ok {
		base := "~pending/" + rest
		if owner, facet, isFacet := graph.OwnerOfFacet(id); isFacet {
			return append(place(owner), graph.Decl{ID: graph.FacetOf(owner, facet), Parent: owner, Kind: graph.Facet})
		}
		return append(place("r/g"), graph.Decl{ID: graph.NodeID(base), Parent: "r/g", Kind: graph.Pending, Type: "sim_thing"})
	}
	if parent, _, ok := strings.Cut(string(id), "/~name/"); ok {
		return append(place(graph.NodeID(parent)), graph.Decl{ID: id, Parent: graph.NodeID(parent), Kind: graph.Name, Type: "sim_thing"})
	}
	i := strings.LastIndex(string(id), "/")
	if i < 0 {
		return []graph.Decl{{ID: id, Kind: graph.Realm}}
	}
	d := graph.Decl{ID: id, Parent: id[:i], Kind: graph.Resource, Type: "sim_thing"}
	if strings.HasPrefix(string(id[i+1:]), "~") {
		d.Kind, d.Type = graph.Facet, ""
	}
	return append(place(id[:i]), d)
}

func (w *world) forecast(d *datadriven.TestData) string {
	before := w.state.Hash()
	q, err := w.request(d)
	if err != nil {
		return err.Error()
	}
	p := w.state.Forecast([]Request{q})[0]
	if w.state.Hash() != before {
		w.t.Fatal("a forecast changed the state")
	}
	if p.Err != nil {
		return "error: " + p.Err.Error()
	}
	out := string(p.Decision)
	if p.Dormant {
		out += " dormant"
	}
	return out + "\n" + blockersOf(p.Blockers)
}

func (w *world) why(id TxID) string {
	tx, ok := w.state.Tx(id)
	if !ok {
		return "unknown"
	}
	position, ahead := w.state.Place(id)
	return fmt.Sprintf("%s place %d, %d ahead\n%s", tx.Status, position, ahead, blockersOf(w.state.Blockers(id)))
}

func arg(d *datadriven.TestData, name, otherwise string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name && len(a.Vals) == 1 {
			return a.Vals[0]
		}
	}
	return otherwise
}

func lines(d *datadriven.TestData) []string {
	list := strings.Split(d.Input, "\n")
	return slices.DeleteFunc(list, func(l string) bool { return strings.TrimSpace(l) == "" })
}
