// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// Strategy is how runs get along with each other.
type Strategy string

// The strategies.
const (
	// Serial: one run after the other.
	Serial Strategy = "one by one"
	// Uncoordinated: all at once; what the cloud is too busy for is tried again.
	Uncoordinated Strategy = "uncoordinated"
	// GroupLock: a run holds each resource group that it works in, for all of its
	// apply.
	GroupLock Strategy = "lock per group"
	// Coordinated: under the coordinator.
	Coordinated Strategy = "tfweaver"
)

// Strategies are all of them.
func Strategies() []Strategy { return []Strategy{Serial, Uncoordinated, GroupLock, Coordinated} }

// Bar is what the makespan under the coordinator may be of the longest path.
const Bar = 1.05

// Result is what became of one workload under one strategy. Times are in seconds
// of virtual time, but for the processor time.
type Result struct {
	Workload string   `json:"workload"`
	Strategy Strategy `json:"strategy"`
	Sessions int      `json:"sessions"`
	// Calls are all that the sessions have, Done those that succeeded.
	Calls int `json:"calls"`
	Done  int `json:"done"`
	// Makespan is from the first arrival to the end of the last call.
	Makespan float64 `json:"makespan_s"`
	// CriticalPath is that of the slowest session as if it were alone, and
	// LowerBound what no order can beat; both of the calls that were made.
	CriticalPath float64 `json:"critical_path_s"`
	LowerBound   float64 `json:"lower_bound_s"`
	// TicketPath is the longest path in the order of the tickets, those that calls
	// inherit from their plan's reservation included; ServedPath in the order in
	// which calls were admitted, and ArrivalPath in that in which they were
	// submitted. All are 0 without a coordinator.
	TicketPath  float64 `json:"ticket_path_s,omitempty"`
	ServedPath  float64 `json:"served_path_s,omitempty"`
	ArrivalPath float64 `json:"arrival_path_s,omitempty"`
	// Optimal is the makespan of the best order, where it could be found.
	Optimal float64 `json:"optimal_s,omitempty"`
	// Ratio is the makespan to the ticket path and RatioServed that to the path
	// served, which both have the bar: the second says that nobody waited for
	// anything but calls that truly exclude his. RatioArrival, Stretch and
	// ToOptimal tell what the order itself costs: against that of submission, the
	// critical path, and the lower bound or, where it is known, the optimum.
	Ratio        float64 `json:"ratio_to_ticket_path,omitempty"`
	RatioServed  float64 `json:"ratio_to_served_path,omitempty"`
	RatioArrival float64 `json:"ratio_to_arrival_path,omitempty"`
	Stretch      float64 `json:"ratio_to_critical_path"`
	ToOptimal    float64 `json:"ratio_to_optimal"`
	// Wasted are calls that the cloud refused, GaveUp calls that were tried as often
	// as a provider does, and Broken sessions that did not end well.
	Wasted int `json:"wasted_calls"`
	GaveUp int `json:"gave_up"`
	Broken int `json:"broken_sessions"`
	// Refused are sessions that were told before their first call that there is
	// not enough for them, Rejections all refusals of the coordinator.
	Refused    int `json:"refused_sessions"`
	Rejections int `json:"rejections"`
	// The waits are from when Terraform would send a call to when it is in
	// flight.
	WaitP50 float64 `json:"wait_p50_s"`
	WaitP99 float64 `json:"wait_p99_s"`
	// Decisions are commands of the coordinator, and CPUMicros is the processor
	// time of all of them for each call that was admitted.
	Decisions int     `json:"decisions,omitempty"`
	CPUMicros float64 `json:"cpu_us_per_admission,omitempty"`
}

// Met says whether the result is what the coordinator is to reach. Others have
// no bar.
func (r Result) Met() bool {
	return r.Strategy != Coordinated || r.Wasted == 0 && r.Broken == 0 && r.Ratio <= Bar && r.RatioServed <= Bar
}

// Play plays a scene under a strategy. The seed chooses latencies and backoffs. The
// error is that of the context when it ends before the play does.
func Play(ctx context.Context, scene Scene, strategy Strategy, rules *Rules, seed uint64) (Result, error) {
	// Processor time is that of one thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	st, err := newStage(scene, seed)
	if err != nil {
		return Result{}, err
	}
	p := newPlayer(scene, st)
	plain := uncoordinated{player: p, backoff: DefaultBackoff(), chance: rand.New(rand.NewPCG(seed, 3))}
	if scene.Paced {
		plain.backoff.Tries = 1
		if strategy != Coordinated {
			p.pace()
		}
	}
	r := Result{Workload: scene.Name, Strategy: strategy, Sessions: len(scene.Sessions)}
	gaveUp := &plain.gaveUp
	var c *coordinated
	switch strategy {
	case Serial:
		s := &serial{uncoordinated: plain}
		p.strategy, gaveUp = s, &s.gaveUp
	case GroupLock:
		s := &grouped{uncoordinated: plain, held: map[string]bool{}}
		p.strategy, gaveUp = s, &s.gaveUp
	case Coordinated:
		c = newCoordinated(p, rules)
		c.backoff, c.chance = plain.backoff, plain.chance
		p.strategy = c
	default:
		p.strategy = &plain
	}
	if err := p.play(ctx); err != nil {
		return r, fmt.Errorf("play %d sessions, %s: %w", len(scene.Sessions), strategy, err)
	}
	r.GaveUp = *gaveUp
	r.take(p)
	if c != nil {
		r.takeDecisions(scene, p, c)
	}
	return r, nil
}

// take takes over what any play has.
func (r *Result) take(p *player) {
	var waits []time.Duration
	last := p.last()
	for _, run := range p.runs {
		r.Calls += len(run.calls)
		good := true
		for _, c := range run.calls {
			good = good && c.done
			if c.done {
				r.Done++
				waits = append(waits, c.start-c.readyAt)
			}
		}
		switch {
		case run.refused:
			r.Refused++
		case !good:
			r.Broken++
		}
	}
	jobs := p.jobs(func(c *call) uint64 { return c.served })
	bound := LowerBound(jobs, Parallelism)
	r.Makespan, r.CriticalPath, r.LowerBound = last.Seconds(), CriticalPath(jobs).Seconds(), bound.Seconds()
	best := bound
	if r.Sessions <= fewSessions {
		if found, ok := Optimal(jobs, mostSteps); ok {
			best, r.Optimal = found, found.Seconds()
		}
	}
	r.Stretch, r.ToOptimal = ratio(last, CriticalPath(jobs)), ratio(last, best)
	slices.SortFunc(waits, cmp.Compare[time.Duration])
	r.WaitP50, r.WaitP99 = quantile(waits, 0.5), quantile(waits, 0.99)
	r.Wasted = p.wasted
}

// Where the best order is searched for, and for how long.
const (
	fewSessions = 5
	mostSteps   = 30_000
)

// takeDecisions takes over what only a play under the coordinator has.
func (r *Result) takeDecisions(scene Scene, p *player, c *coordinated) {
	path := func(turn func(*call) uint64) time.Duration {
		jobs := p.jobs(turn)
		if limit, bounded := scene.Quotas[bounded]; bounded {
			jobs = hold(jobs, scene.needs(), limit, Parallelism)
		}
		return LongestPath(jobs, Parallelism)
	}
	ticket := path(func(c *call) uint64 { return c.rank<<32 | c.ticket })
	served := path(func(c *call) uint64 { return c.served })
	arrival := path(func(c *call) uint64 { return c.ticket })
	r.TicketPath, r.ServedPath, r.ArrivalPath = ticket.Seconds(), served.Seconds(), arrival.Seconds()
	last := p.last()
	r.Ratio, r.RatioServed, r.RatioArrival = ratio(last, ticket), ratio(last, served), ratio(last, arrival)
	r.Rejections, r.Decisions = c.rejections, c.meter.decisions
	if c.admissions > 0 {
		r.CPUMicros = float64(c.meter.spent.Microseconds()) / float64(c.admissions)
	}
}

// last is when the last call ended that succeeded.
func (p *player) last() (last time.Duration) {
	for _, run := range p.runs {
		for _, c := range run.calls {
			if c.done {
				last = max(last, c.end)
			}
		}
	}
	return last
}

// jobs are the calls that were made, with their true durations and touches.
func (p *player) jobs(turn func(*call) uint64) []Job {
	places := map[Place]int{}
	var made []*call
	var jobs []Job
	for _, run := range p.runs {
		for i, c := range run.calls {
			if c.done {
				places[Place{run.number, i}] = len(jobs)
				made = append(made, c)
				jobs = append(jobs, Job{
					Run: run.number, Release: run.session.Arrival, Duration: c.end - c.start, Touches: Touches(c.Operation), Turn: turn(c), Takes: c.takes(),
				})
			}
		}
	}
	for j, c := range made {
		for _, before := range c.After {
			if k, ok := places[Place{c.run.number, before}]; ok {
				jobs[j].After = append(jobs[j].After, k)
			}
		}
		for _, before := range c.Needs {
			if k, ok := places[before]; ok {
				jobs[j].After = append(jobs[j].After, k)
			}
		}
	}
	return jobs
}

func ratio(a, b time.Duration) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// quantile is the value below which a part of sorted times lies, in seconds.
func quantile(sorted []time.Duration, part float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(part*float64(len(sorted)-1))].Seconds()
}
