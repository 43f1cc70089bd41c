// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/simcloud"
)

// epoch0 is when every simulation begins.
func epoch0() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// World is one simulation. It is used by one goroutine.
type World struct {
	ctx    context.Context
	rng    *rand.Rand
	clock  *simcloud.VirtualClock
	engine *ruleengine.Engine
	cloud  *simcloud.Cloud
	log    *eventLog
	judge  *judge
	ledger *ledger
	store  *store
	flaw   flaw
	rates  rates

	machines []*machine
	servers  []*server
	spaces   []*workspace
	sessions map[admission.SessionID]*run
	// leader is the server that is to lead; another one may believe that it does.
	leader *server
	// lastHeard is where clients ask first.
	lastHeard int

	// calm: nothing goes wrong any more.
	calm    bool
	full    bool
	forward time.Duration
	flights []*flight
	sent    int
	arrived map[link]int
	failure string
	steps   int

	counts
}

// counts are what a run amounts to.
type counts struct {
	faults                               map[Fault]int
	refusals, ended, results             map[string]int
	runs, calls, appends, restarts       int
	snapshots, settled, stale, impatient int
	late                                 int
}

func newCounts() counts {
	return counts{faults: map[Fault]int{}, refusals: map[string]int{}, ended: map[string]int{}, results: map[string]int{}}
}

func newWorld(ctx context.Context, c Config) (*World, error) {
	w := &World{
		ctx: ctx, rng: rand.New(rand.NewPCG(c.Seed, 0x7766)), clock: simcloud.NewVirtualClock(epoch0()),
		engine: c.Engine, log: newEventLog(c.Log), ledger: newLedger(), store: newStore(c.Journal), flaw: c.flaw,
		sessions: map[admission.SessionID]*run{}, arrived: map[link]int{}, counts: newCounts(),
	}
	w.judge = newJudge(w)
	w.rates = drawRates(w.rng)
	if err := w.found(c.Seed); err != nil {
		return nil, err
	}
	w.people()
	return w, w.serve()
}

// found makes the cloud and what is there from the beginning.
func (w *World) found(seed uint64) (err error) {
	w.cloud, err = simcloud.New(simcloud.Config{
		Clock: w.clock, Seed: seed | 1, Log: &w.judge.log,
		Quotas: map[string]int{location: 3 + w.rng.IntN(8)},
	})
	return err
}

// people makes the workspaces and what they may have.
func (w *World) people() {
	e := newEstate(w)
	for _, t := range e.base {
		_, refusal := w.cloud.Write(simcloud.Call{Method: "PUT", Path: t.path(), Body: encode(t.body("base", t.size)), Actor: "base"})
		if refusal != nil {
			w.fail("the base cannot be laid: %v", refusal)
		}
		w.clock.Advance(time.Minute)
	}
	w.judge.read()
	n := 3 + w.rng.IntN(4)
	for i := range n {
		x := &workspace{w: w, name: fmt.Sprintf("w%d", i), policy: admission.Queue, watched: w.rng.IntN(4) > 0, runs: 1 + w.rng.IntN(4)}
		if w.rng.IntN(6) == 0 {
			x.policy = admission.Reject
		}
		x.machine = w.newMachine("host-" + x.name)
		w.spaces = append(w.spaces, x)
	}
	for i := range 12 + w.rng.IntN(61) {
		if t := e.grow(fmt.Sprintf("x%d", i)); t != nil {
			x := w.near(t)
			x.things = append(x.things, t)
		}
	}
	w.sharing(e)
	for _, x := range w.spaces {
		x.next(w.between(time.Second, 20*time.Second))
	}
}

// near is a workspace for a thing: mostly one that has what it refers to.
func (w *World) near(t *thing) *workspace {
	for _, x := range w.spaces {
		for _, r := range t.refs {
			if slices.Contains(x.things, r) && w.rng.IntN(3) > 0 {
				return x
			}
		}
	}
	return pick(w, w.spaces)
}

// sharing lets some things be in two workspaces: that is a mistake, which happens.
func (w *World) sharing(e *estate) {
	place := map[*thing]int{}
	for i, t := range e.things {
		place[t] = i
	}
	share := pick(w, []float64{0, 0.05, 0.25})
	for _, t := range e.things {
		x := pick(w, w.spaces)
		if w.rng.Float64() < share && !slices.Contains(x.things, t) {
			x.things = append(x.things, t)
		}
	}
	for _, x := range w.spaces {
		slices.SortFunc(x.things, func(a, b *thing) int { return cmp.Compare(place[a], place[b]) })
	}
}

// serve starts the coordinators, one of which leads.
func (w *World) serve() error {
	n := 1
	if w.store.shared() {
		n = 1 + w.rng.IntN(3)
	}
	for i := range n {
		m := w.newMachine(fmt.Sprintf("node-%d", i))
		m.skew = w.between(0, 300*time.Millisecond)
		s := &server{process: m.newProcess(fmt.Sprintf("server-%d", i))}
		if err := w.store.open(s); err != nil {
			return err
		}
		w.servers = append(w.servers, s)
	}
	w.leader = w.servers[0]
	w.leader.leadIn(0)
	return nil
}

// since is the time since the beginning.
func (w *World) since() time.Duration { return w.clock.Now().Sub(epoch0()) }

// fail notes the first thing that is wrong; the simulation ends with it.
func (w *World) fail(format string, args ...any) {
	if w.failure == "" {
		w.failure = fmt.Sprintf(format, args...)
		w.logf("judge", "%s", w.failure)
	}
}

// fail1 is fail for an error that must not be.
func (w *World) fail1(err error) {
	if err != nil {
		w.fail("%v", err)
	}
}

// allDead says whether a coordinator sees that no process of a session lives.
func (w *World) allDead(id admission.SessionID) bool {
	x := w.sessions[id]
	if x == nil || !x.space.watched {
		return false
	}
	return !x.alive && (!x.plugin.alive || w.flaw.hastyDeath)
}

// run is the whole simulation: a time in which things go wrong, and one in which
// they do not, at the end of which everything has to be settled.
func (w *World) run(trouble time.Duration) {
	w.chaos()
	w.clock.AfterFunc(trouble, w.calmDown)
	for w.failure == "" && !w.over() {
		if !w.clock.Step() {
			w.fail("nothing is left to happen")
		}
		w.steps++
		w.judge.read()
		if w.since() > trouble+patienceAtTheEnd {
			w.fail("not over in time: %s; %s", w.judge.leftOver(), w.unfinished())
		}
	}
	if w.failure == "" {
		w.judge.same(w.leader, "at the end")
		w.judge.replayed(w.leader)
	}
}

// calmDown ends all trouble.
func (w *World) calmDown() {
	w.calm, w.full = true, false
	w.logf("chaos", "is over")
	for _, m := range w.machines {
		m.cut, m.apart = false, false
		m.resume()
	}
	w.settleAll()
}

// settleAll is somebody who looks after what nobody has settled, as a person would
// with the commands that the reports name, until all is.
func (w *World) settleAll() {
	x := &workspace{w: w, name: "last", policy: admission.Queue, machine: w.newMachine("host-last")}
	r := &run{process: x.machine.newProcess("last"), space: x, reading: map[admission.TxID]bool{}}
	r.plugin = &plugin{process: x.machine.newProcess("last/plugin"), run: r}
	session := admission.Session{Actor: x.name, Lease: int64(lease), Labels: map[string]string{opening: x.name}}
	r.ask(openSession(session, admission.Intent{Objective: "settle"}), func(value any, err error) {
		if err != nil {
			w.fail("the last session was not opened: %v", err)
			return
		}
		r.session = value.(admission.SessionID)
		w.sessions[r.session] = r
		r.heartbeat()
		var round func()
		round = func() {
			r.investigate()
			r.after(20*time.Second, round)
		}
		round()
	})
}

// over says whether all runs have ended and everything is settled.
func (w *World) over() bool {
	if !w.calm || w.leader.role != leading || w.leader.busy || len(w.running()) > 0 {
		return false
	}
	for _, x := range w.ledger.state.Sessions() {
		if x.EndedAt == 0 && x.Actor != "last" {
			return false
		}
	}
	return w.judge.leftOver() == ""
}

func (w *World) unfinished() string {
	text := ""
	for _, x := range w.running() {
		text += x.name + " "
		for _, c := range x.calls {
			if !c.ended {
				text += string(c.id) + " "
			}
		}
	}
	return text
}
