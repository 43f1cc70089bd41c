// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

const (
	lease = 30 * time.Second
	// freshPlans is how often a run reads anew because somebody changed what it
	// had just read.
	freshPlans = 5
)

// workspace is a state of Terraform: what it has, and its runs, one at a time.
type workspace struct {
	w       *World
	name    string
	machine *machine
	things  []*thing
	policy  admission.Policy
	// watched: the coordinators see whether its processes are dead.
	watched bool
	// runs are still to come.
	runs    int
	serial  int
	current *run
}

// run is one apply: a wrapper, with a plugin beside it.
type run struct {
	*process
	space    *workspace
	plugin   *plugin
	destroys bool

	session admission.SessionID
	// lost: the session has ended under it, and it sends nothing more.
	lost  bool
	keys  uint64
	began moment
	seen  map[*thing]sight
	lives map[graph.NodeID]uint64
	// reserve is the plan's reservation, empty for none.
	reserve  admission.TxID
	calls    []*planned
	slots    int
	patience time.Duration
	reading  map[admission.TxID]bool
	closing  bool
	rounds   int
}

// next begins the workspace's next run in a while.
func (x *workspace) next(d time.Duration) {
	x.current = nil
	if x.runs == 0 || x.w.calm {
		x.runs = 0
		return
	}
	x.runs--
	x.w.clock.AfterFunc(d, func() {
		x.serial++
		x.begin()
	})
}

func (x *workspace) begin() {
	w := x.w
	name := fmt.Sprintf("%s.%d", x.name, x.serial)
	r := &run{
		process: x.machine.newProcess(name), space: x, destroys: w.rng.IntN(6) == 0,
		lives: map[graph.NodeID]uint64{}, slots: 1 + w.rng.IntN(10), reading: map[admission.TxID]bool{},
		patience: w.between(time.Minute, 12*time.Minute),
	}
	r.plugin = &plugin{process: x.machine.newProcess(name + "/plugin"), run: r}
	x.current = r
	w.runs++
	r.logf("begins")
	r.do(func() {
		r.ask(openSession(admission.Session{
			Actor: x.name, Host: x.machine.name, Origin: x.name, Policy: x.policy, Lease: int64(lease),
			Labels: map[string]string{opening: name},
		}, admission.Intent{Objective: name}), r.opened)
	})
}

func (x *run) opened(value any, err error) {
	if err != nil {
		x.end("not opened")
		return
	}
	x.session = value.(admission.SessionID)
	x.w.sessions[x.session] = x
	x.heartbeat()
	x.look()
}

// heartbeat renews the lease as long as the run goes on.
func (x *run) heartbeat() {
	x.after(lease/3, func() {
		if x.closing || x.lost {
			return
		}
		x.ask(renew(x.session), func(_ any, err error) {
			if err != nil {
				x.lose(err)
			}
		})
		x.heartbeat()
	})
}

// lose notes that the session has ended: nothing more is sent.
func (x *run) lose(err error) {
	if !gone(err) || x.lost {
		return
	}
	x.lost = true
	x.logf("has lost its session")
	x.advance()
}

// look reads everything the workspace may have, tells of it, and plans.
func (x *run) look() {
	if x.lost {
		x.end("lost before the plan")
		return
	}
	x.rounds++
	x.seen = map[*thing]sight{}
	x.ask(whichMoment(), func(value any, _ error) {
		x.began = value.(moment)
		things := x.space.horizon()
		left, objects := len(things), make([]seenObject, len(things))
		for i, t := range things {
			x.read(x.process, t.path(), func(r arm.Resource, there bool) {
				objects[i] = seenObject{t.id, r, there}
				x.seen[t] = t.sight(r, there)
				if left--; left == 0 {
					x.observe(things, objects)
				}
			})
		}
		if left == 0 {
			x.close()
		}
	})
}

// horizon is what the workspace has, and what that refers to: a data source.
func (x *workspace) horizon() []*thing {
	list := slices.Clone(x.things)
	for _, t := range x.things {
		for _, r := range t.refs {
			if !slices.Contains(list, r) {
				list = append(list, r)
			}
		}
	}
	return list
}

// sight is what a read of a thing's path says about the thing.
func (t *thing) sight(r arm.Resource, there bool) sight {
	if t.typ == association {
		return sight{there: there && r.Properties.NetworkSecurityGroup != nil}
	}
	return sight{there: there, uid: r.Properties.UniqueID, size: r.Properties.VMSize}
}

// observe tells of what was read.
func (x *run) observe(things []*thing, objects []seenObject) {
	o := admission.Observe{Session: x.session, Began: x.began.index}
	var ids []graph.NodeID
	for i, t := range things {
		if t.typ == association {
			continue
		}
		seen, ok := x.w.see(objects[i])
		if !ok {
			continue
		}
		o.Nodes = append(o.Nodes, seen.Nodes...)
		o.Objects = append(o.Objects, seen.Observation)
		ids = append(ids, seen.Observation.Decl.ID)
	}
	x.ask(plain("observe", func(stamp admission.Stamp) admission.Command {
		o := o
		o.Stamp = stamp
		return o
	}), func(_ any, err error) {
		x.lose(err)
		x.ask(lookup(ids), func(value any, _ error) { x.known(value.([]found)) })
	})
}

// known takes over which life of each object the plan will be made on. What began
// or ended after the reads did is read again.
func (x *run) known(list []found) {
	for _, f := range list {
		if f.known && f.node.LifeAt > x.began.at && x.rounds < freshPlans {
			x.look()
			return
		}
		if f.known && f.node.Incarnation > 0 {
			x.lives[f.node.ID] = f.node.Incarnation
		}
	}
	if x.rounds == freshPlans {
		x.close()
		return
	}
	x.calls = x.plan(x.seen)
	x.logf("plans %d calls", len(x.calls))
	x.lowerAll(0)
}

// lowerAll lowers the plan, one call after the other where the live graph has to
// be asked.
func (x *run) lowerAll(i int) {
	for ; i < len(x.calls); i++ {
		c := x.calls[i]
		if c.thing.typ == association {
			x.aroundSubnet(c, func(g live) {
				x.lowered(c, g)
				x.lowerAll(i + 1)
			})
			return
		}
		x.lowered(c, nil)
	}
	x.declare()
}

func (x *run) lowered(c *planned, g live) {
	l, err := x.lower(c, g)
	if err != nil {
		x.w.fail("lower %s: %v", c.id, err)
	}
	c.lowered = l
}

// aroundSubnet looks up what the live graph says about the subnet of an
// association.
func (x *run) aroundSubnet(c *planned, done func(live)) {
	subnet := account + graph.NodeID(lower(c.thing.subnet.id.String()))
	x.ask(lookup([]graph.NodeID{subnet}), func(value any, _ error) {
		f := value.([]found)[0]
		ids := []graph.NodeID{subnet}
		for _, e := range f.out {
			ids = append(ids, e.To)
		}
		x.ask(lookup(ids), func(value any, _ error) {
			g := live{}
			for _, f := range value.([]found) {
				if f.known {
					g[f.node.ID] = f
				}
			}
			done(g)
		})
	})
}

// declare says what the plan will make, and then what there is room for.
func (x *run) declare() {
	d := admission.Declare{Session: x.session, Creates: []graph.Decl{}, Selves: []graph.NodeID{}}
	for _, c := range x.calls {
		if c.action == admission.Create {
			d.Selves = append(d.Selves, c.lowered.Request.Self)
			d.Creates = append(d.Creates, c.lowered.Request.Nodes...)
		}
	}
	x.ask(plain("declare", func(stamp admission.Stamp) admission.Command {
		d := d
		d.Stamp = stamp
		return d
	}), func(_ any, err error) {
		x.lose(err)
		var owners []graph.Decl
		for _, c := range x.calls {
			for _, b := range c.lowered.Buckets {
				owners = append(owners, b.Owner)
			}
		}
		x.measure(owners, x.hold)
	})
}

// hold reserves the plan.
func (x *run) hold() {
	if x.lost {
		x.advance()
		return
	}
	r, needed := x.reservation(x.calls)
	if !needed {
		x.advance()
		return
	}
	p := &petition{run: x, name: "the plan", request: r, since: x.w.since()}
	p.admitted = func(d decision) {
		x.reserve = d.tx
		x.advance()
	}
	p.refused = func(why string) {
		for _, c := range x.calls {
			c.begun, c.ended = true, true
		}
		x.advance()
	}
	p.submit()
}
