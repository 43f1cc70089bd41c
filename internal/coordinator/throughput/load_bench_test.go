// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package throughput_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// heldPerClient is how many admissions a client holds in a burst before all of
// them are given back.
const heldPerClient = 32

// plan is the request of a client for the n-th of its own networks. It takes six
// locks: the subnet and the network's writing slot exclusively, and the
// intentions on network, group, location and realm. Two plans share only
// intentions, so nobody waits for anybody.
func plan(client, n int) admission.Request {
	const realm, location graph.NodeID = "sim/sub-1", "sim/sub-1/loc/west"
	group := location + graph.NodeID(fmt.Sprintf("/group/g%d", client))
	network := group + graph.NodeID(fmt.Sprintf("/net/n%d", n))
	slot, self := graph.FacetOf(network, "slot:write"), network+"/subnet/app"
	parents := map[graph.NodeID]graph.NodeID{self: network, slot: network, network: group, group: location, location: realm}
	wants := []lock.Want{
		{Node: self, Mode: mode.X, Relation: lock.Same, Rule: "sim/sim_subnet.update#self", Class: "in_flight"},
		{Node: slot, Mode: mode.X, Relation: lock.Rule, Rule: "sim/sim_subnet.update#slot", Class: "in_flight"},
	}
	return admission.Request{
		Address: fmt.Sprintf("sim_subnet.app[%d]", n), Type: "sim_subnet", Action: admission.Update, Self: self,
		Nodes: []graph.Decl{
			{ID: realm, Kind: graph.Realm},
			{ID: location, Parent: realm, Kind: graph.Resource, Type: "sim_location"},
			{ID: group, Parent: location, Kind: graph.Resource, Type: "sim_group"},
			{ID: network, Parent: group, Kind: graph.Resource, Type: "sim_network"},
			{ID: slot, Parent: network, Kind: graph.Facet},
			{ID: self, Parent: network, Kind: graph.Resource, Type: "sim_subnet"},
		},
		Locks: lock.Close(wants, func(id graph.NodeID) (graph.NodeID, bool) {
			up, ok := parents[id]
			return up, ok
		}),
	}
}

// subject is what is under load. commit does what one caller does once and
// waits for: it appends a record, or is admitted. release gives back what a
// commit took; it is nil where there is nothing to give back.
type subject struct {
	name    string
	commit  func(client, n int) error
	release func(client, n int) error
	// renew ends the sessions of all clients and opens new ones, so that what is
	// remembered for their sake does not grow from round to round; nil where
	// there is none.
	renew func() error
}

// sample is what a slice of time of one subject gave.
type sample struct {
	commits, releases int
	spent             time.Duration
	cpu               time.Duration   // of the whole process
	took              []time.Duration // per commit
}

func (s sample) commitRate() float64 { return float64(s.commits) / s.spent.Seconds() }

func (s *sample) add(o sample) {
	s.commits += o.commits
	s.releases += o.releases
	s.spent += o.spent
	s.cpu += o.cpu
	s.took = append(s.took, o.took...)
}

// steady lets n clients commit and release in turn for a time, or until they
// have done limit commits. Both count as durable answers, commits alone as
// admissions.
func steady(s subject, n int, length time.Duration, limit int64) (sample, error) {
	var done atomic.Int64
	return slice(n, func(client int, began time.Time, out *sample) error {
		for i := 0; time.Since(began) < length && done.Add(1) <= limit; i++ {
			if err := out.time(func() error { return s.commit(client, i%heldPerClient) }); err != nil {
				return err
			}
			if s.release == nil {
				continue
			}
			if err := s.release(client, i%heldPerClient); err != nil {
				return err
			}
			out.releases++
		}
		return nil
	})
}

// burst lets n clients be admitted to all their networks and, once all have
// been, give everything back. Only the first part is timed, so that an
// admission is one record.
func burst(s subject, n int, length time.Duration, limit int64) (sample, error) {
	var all sample
	for all.spent < length && int64(all.commits) < limit {
		got, err := slice(n, func(client int, _ time.Time, out *sample) error {
			return each(func(i int) error {
				return out.time(func() error { return s.commit(client, i) })
			})
		})
		if err != nil {
			return all, err
		}
		all.add(got)
		if s.release == nil {
			continue
		}
		_, err = slice(n, func(client int, _ time.Time, _ *sample) error {
			return each(func(i int) error { return s.release(client, i) })
		})
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

func each(f func(i int) error) error {
	for i := range heldPerClient {
		if err := f(i); err != nil {
			return err
		}
	}
	return nil
}

// time notes how long a commit took.
func (s *sample) time(f func() error) error {
	began := time.Now()
	if err := f(); err != nil {
		return err
	}
	s.took = append(s.took, time.Since(began))
	s.commits++
	return nil
}

// slice runs n clients at once.
func slice(n int, run func(client int, began time.Time, out *sample) error) (sample, error) {
	var (
		all  sync.WaitGroup
		outs = make([]sample, n)
		errs = make([]error, n)
	)
	began, cpu := time.Now(), processorTime()
	for i := range n {
		all.Go(func() { errs[i] = run(i, began, &outs[i]) })
	}
	all.Wait()
	sum := sample{spent: time.Since(began), cpu: processorTime() - cpu}
	for i := range outs {
		if errs[i] != nil {
			return sum, fmt.Errorf("client %d: %w", i, errs[i])
		}
		outs[i].spent = 0
		sum.add(outs[i])
	}
	return sum, nil
}

// quantile is in microseconds; list must be sorted.
func quantile(list []time.Duration, q float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return float64(list[int(q*float64(len(list)-1))]) / float64(time.Microsecond)
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(list))[len(list)/2]
}
