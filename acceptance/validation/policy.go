// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package validation

import (
	"context"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// policy is one way to run the workload.
type policy struct {
	name    string
	planner command
	apply   func(ctx context.Context, s *stage) ([]*lab.Run, error)
}

func policies() []policy {
	return []policy{
		{Serial, (*lab.Workspace).Terraform, applySerially},
		{Uncoordinated, (*lab.Workspace).Terraform, applyUncoordinated},
		{Coordinated, (*lab.Workspace).Tfweaver, applyCoordinated},
	}
}

// applySerially runs one session after another: A, B, C.
func applySerially(ctx context.Context, s *stage) ([]*lab.Run, error) {
	var runs []*lab.Run
	for _, session := range Sessions() {
		run, err := s.apply(ctx, (*lab.Workspace).Terraform, session)
		if err != nil {
			return nil, err
		}
		if err := run.Wait(); err != nil {
			return nil, err
		}
		if err := run.MustSucceed(); err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// applyUncoordinated starts A and C at once, and B so that its subnet is ready
// to be written when A's is: both depend on the network alone.
func applyUncoordinated(ctx context.Context, s *stage) ([]*lab.Run, error) {
	start := (*lab.Workspace).StartTerraform
	a, err := s.apply(ctx, start, SessionA)
	if err != nil {
		return nil, err
	}
	c, err := s.apply(ctx, start, SessionC)
	if err != nil {
		return nil, err
	}
	if err := s.untilReady(ctx, a); err != nil {
		return nil, err
	}
	b, err := s.apply(ctx, start, SessionB)
	if err != nil {
		return nil, err
	}
	return []*lab.Run{a, b, c}, await(a, b, c)
}

// intoTheWindow is how far into A's subnet write B should be ready, as a share
// of that write: early enough for a slow start, late enough to meet A's subnet
// and not the end of the network's creation.
const intoTheWindow = 0.3

// untilReady waits until a session that is started now will make its first call
// while A's subnet is being written. A CLI takes a moment from its start to its
// first call; how long is taken from A's own start, moments ago under the same
// load, and when A's network will be there from the serial run.
func (s *stage) untilReady(ctx context.Context, a *lab.Run) error {
	network, err := s.latency("virtualNetworks", s.names.network())
	if err != nil {
		return err
	}
	subnet, err := s.latency("subnets", s.names.subnetA())
	if err != nil {
		return err
	}
	log, err := s.awaitNetworkCall(ctx)
	if err != nil {
		return err
	}
	startup := log.Operations[0].Start.Sub(a.Started)
	for _, o := range log.Operations {
		if lab.Is(o, "virtualNetworks", s.names.network()) {
			ready := o.Start.Add(network + time.Duration(intoTheWindow*float64(subnet)))
			return sleepUntil(ctx, ready.Add(-startup))
		}
	}
	return nil
}

// awaitNetworkCall waits until A's network is being created.
func (s *stage) awaitNetworkCall(ctx context.Context) (log activity.Log, err error) {
	begun := lab.Wrote("virtualNetworks", s.names.network(), activity.Accepted)
	err = s.experiment.Cloud.Await(ctx, "A's network is being created", func(l activity.Log) bool {
		log = l
		return begun(l)
	})
	return log, err
}

func sleepUntil(ctx context.Context, when time.Time) error {
	timer := time.NewTimer(time.Until(when))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// applyCoordinated starts A and C at once, and B as soon as A has told the
// coordinator what it will create, which is long before A's network is there.
func applyCoordinated(ctx context.Context, s *stage) ([]*lab.Run, error) {
	start := (*lab.Workspace).StartTfweaver
	a, err := s.apply(ctx, start, SessionA)
	if err != nil {
		return nil, err
	}
	c, err := s.apply(ctx, start, SessionC)
	if err != nil {
		return nil, err
	}
	if err := s.untilDeclared(ctx, a); err != nil {
		return nil, err
	}
	b, err := s.apply(ctx, start, SessionB)
	if err != nil {
		return nil, err
	}
	runs := []*lab.Run{a, b, c}
	if err := await(runs...); err != nil {
		return nil, err
	}
	for _, run := range runs {
		if err := run.MustSucceed(); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// untilDeclared waits until the coordinator knows that somebody will create A's
// network. It gives up when A has ended.
func (s *stage) untilDeclared(ctx context.Context, a *lab.Run) error {
	suffix := strings.ToLower("/virtualNetworks/" + s.names.network())
	return s.experiment.AwaitStatus(ctx, "A's network is declared", func(st lab.Status) bool {
		if a.Exited() {
			return true // what went wrong is in A's exit code
		}
		for _, n := range st.Declared {
			if strings.HasSuffix(strings.ToLower(n.ID), suffix) {
				return true
			}
		}
		return false
	})
}
