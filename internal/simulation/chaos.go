// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"math"
	"slices"
	"time"
)

// maxForward bounds by how much the clocks of the coordinators jump ahead in a run
// together: less than what is left of the rules' time-out behind a plugin's.
const maxForward = 10 * time.Minute

// chaos begins all that goes wrong by itself, each at times of its own.
func (w *World) chaos() {
	w.recurs(NetPartition, w.partition)
	w.recurs(CloudPartition, w.apart)
	w.recurs(ClockForward, func() bool { return w.jump(1) })
	w.recurs(ClockBack, func() bool { return w.jump(-1) })
	w.recurs(Suspend, func() bool {
		pick(w, w.spaces).machine.suspend(w.between(time.Second, 3*time.Minute))
		return true
	})
	w.recurs(ServerSuspend, func() bool {
		pick(w, w.servers).machine.suspend(w.between(time.Second, time.Minute))
		return true
	})
	w.recurs(ServerCrash, func() bool {
		s := pick(w, w.servers)
		if s.alive {
			s.crash("killed")
		}
		return true
	})
	w.recurs(TakeOver, w.takeOver)
	w.recurs(WrapperKill, w.killWrapper)
	w.recurs(PluginKill, w.killPlugin)
	w.recurs(JournalFull, w.fillUp)
}

// recurs makes a fault happen about as often a minute as its rate says. Whether it
// is counted is for f to say, or for who meets it.
func (w *World) recurs(f Fault, happen func() bool) {
	rate := w.rates[f]
	if f == JournalFull {
		rate *= 30 // the rate is that of the appends that meet it
	}
	if rate == 0 {
		return
	}
	d := time.Duration(-math.Log(1-w.rng.Float64()) / rate * float64(time.Minute))
	w.clock.AfterFunc(d, func() {
		if w.calm {
			return
		}
		if happen() {
			w.count(f)
		}
		w.recurs(f, happen)
	})
}

// partition cuts a machine off from all others for a while; it is counted by what
// does not arrive.
func (w *World) partition() bool {
	m := pick(w, w.machines)
	m.cut = true
	w.logf(m.name, "is cut off")
	w.clock.AfterFunc(w.between(time.Second, 90*time.Second), func() {
		m.cut = false
		w.logf(m.name, "is reached again")
	})
	return false
}

// apart keeps a machine from the cloud for a while.
func (w *World) apart() bool {
	w.cutOff(pick(w, w.spaces).machine, w.between(time.Second, time.Minute))
	return false
}

func (w *World) cutOff(m *machine, d time.Duration) {
	m.apart = true
	w.logf(m.name, "does not reach the cloud")
	w.clock.AfterFunc(d, func() {
		m.apart = false
		w.logf(m.name, "reaches the cloud")
	})
}

// jump moves the clocks of all coordinators: they follow one source of time. It
// leaves alone the moment in which a request of a dead process is on its way: that
// it lands in time is assumed of the environment.
func (w *World) jump(sign int) bool {
	d := w.between(time.Second, 2*time.Minute)
	if sign > 0 && (w.orphaned() || w.forward+d > maxForward) {
		return false
	}
	if sign > 0 {
		w.forward += d
	}
	for _, s := range w.servers {
		s.machine.skew += time.Duration(sign) * d
	}
	w.logf("chaos", "the clocks jump by %v", time.Duration(sign)*d)
	return true
}

// takeOver lets another coordinator lead while the leader lives and does not know.
func (w *World) takeOver() bool {
	if len(w.servers) == 1 || !w.store.shared() {
		return false
	}
	s := pick(w, w.servers)
	if s == w.leader || !s.alive {
		return false
	}
	w.leader = s
	s.leadIn(w.between(0, time.Second))
	return true
}

// replace lets another coordinator lead after the leader has died, as soon as
// that was noticed.
func (w *World) replace(dead *server) {
	if w.leader != dead || !w.store.shared() || w.rng.IntN(2) == 0 {
		return
	}
	for _, s := range w.servers {
		if s.alive {
			w.leader = s
			s.leadIn(w.between(time.Second, 8*time.Second))
			return
		}
	}
}

func (w *World) running() []*run {
	var list []*run
	for _, x := range w.spaces {
		if x.current != nil && x.current.alive {
			list = append(list, x.current)
		}
	}
	return list
}

// busiest are the runs whose plugin is at something, if there are any: their death
// has consequences.
func busiest(list []*run) []*run {
	var busy []*run
	for _, x := range list {
		if slices.ContainsFunc(x.plugin.tasks, func(t *task) bool { return !t.over }) {
			busy = append(busy, x)
		}
	}
	if len(busy) == 0 {
		return list
	}
	return busy
}

// killWrapper kills a run; its plugin may live on and finish what it was at.
func (w *World) killWrapper() bool {
	list := w.running()
	if len(list) == 0 {
		return false
	}
	x := pick(w, busiest(list))
	x.kill()
	x.space.next(w.between(time.Second, 2*time.Minute))
	if x.plugin.alive && w.strikes(PluginSurvives) {
		x.logf("is killed; its plugin goes on")
		if w.rng.IntN(2) == 0 {
			w.cutOff(x.machine, w.between(time.Second, 2*time.Minute)) // what killed it has more consequences
		}
		x.plugin.after(w.between(time.Second, pluginTimeout), x.plugin.kill)
		return true
	}
	x.logf("is killed with its plugin")
	x.plugin.kill()
	return true
}

func (w *World) killPlugin() bool {
	list := w.running()
	if len(list) == 0 {
		return false
	}
	x := pick(w, list)
	if !x.plugin.alive {
		return false
	}
	x.plugin.logf("is killed")
	x.plugin.die()
	return true
}

// fillUp leaves no room for the journal for a while; it is counted by the appends
// that fail.
func (w *World) fillUp() bool {
	w.full = true
	w.clock.AfterFunc(w.between(100*time.Millisecond, 10*time.Second), func() { w.full = false })
	return false
}
