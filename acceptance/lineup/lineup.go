// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package lineup is the scenario of sessions that all want the same network at
// once: while somebody updates the network, each of them applies a subnet. They
// line up, and when the update ends they run one after another.
package lineup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// Setup is a cloud in which the update lasts long enough for everybody to line
// up behind it.
func Setup(update, subnet time.Duration) lab.Setup {
	return lab.Setup{Cloud: lab.CloudConfig{Latencies: map[string]time.Duration{
		"resource_group": 100 * time.Millisecond, "virtual_network": 200 * time.Millisecond,
		"virtual_network.update": update, "subnet": subnet,
	}}}
}

// Result is what happened.
type Result struct {
	// Queue are the sessions in the order in which they lined up, Ran in the
	// order in which the cloud got their calls.
	Queue, Ran []string
	// Gaps are the times in which nobody wrote the network although somebody
	// wanted to: between the end of one operation and the start of the next.
	Gaps []time.Duration
	// Together is the time from the start of the first subnet write to the end
	// of the last, OneByOne the sum of their durations.
	Together, OneByOne time.Duration
	Succeeded, Refused int
}

// Run lets n sessions line up and run. Every run must exit with 0.
func Run(ctx context.Context, e *lab.Experiment, n int) (Result, error) {
	owner, sessions, err := prepare(ctx, e, n)
	if err != nil {
		return Result{}, err
	}
	if err := owner.Configure(network(`round = "2"`)); err != nil {
		return Result{}, err
	}
	runs, err := startAll(ctx, e, owner, sessions)
	if err != nil {
		return Result{}, err
	}
	queue, err := awaitQueue(ctx, e, n)
	if err != nil {
		return Result{}, err
	}
	for _, r := range runs {
		if err := succeed(r, r.Wait()); err != nil {
			return Result{}, err
		}
	}
	log, err := e.Cloud.Log()
	return judge(log, queue), err
}

// prepare makes the network, with plain Terraform, and the sessions' workspaces.
func prepare(ctx context.Context, e *lab.Experiment, n int) (owner *lab.Workspace, sessions []*lab.Workspace, err error) {
	if owner, err = e.Workspace(ctx, "owner", network("")); err != nil {
		return nil, nil, err
	}
	if err := succeed(owner.Terraform(ctx, "apply", "-auto-approve", "-no-color")); err != nil {
		return nil, nil, err
	}
	sessions, err = workspaces(ctx, e, n)
	return owner, sessions, err
}

func network(tags string) string {
	return fmt.Sprintf(`resource "simcloud_resource_group" "shared" {
  name     = "shared"
  location = "westeurope"
}

resource "simcloud_virtual_network" "net" {
  name                = "net"
  resource_group_name = simcloud_resource_group.shared.name
  location            = "westeurope"
  address_space       = ["10.0.0.0/16"]
  tags                = { %s }
}
`, tags)
}

// workspaces makes one workspace with one subnet per session.
func workspaces(ctx context.Context, e *lab.Experiment, n int) ([]*lab.Workspace, error) {
	var all []*lab.Workspace
	for i := range n {
		w, err := e.Workspace(ctx, name(i), fmt.Sprintf(`resource "simcloud_subnet" "%[1]s" {
  name                 = "%[1]s"
  resource_group_name  = "shared"
  virtual_network_name = "net"
  address_prefix       = "10.0.%[2]d.0/24"
}
`, name(i), i))
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// name is the name of a session, of its subnet, and of the subnet's resource.
func name(i int) string { return fmt.Sprintf("s%d", i) }

// startAll starts the owner's update and, once the cloud is at it, all others.
func startAll(ctx context.Context, e *lab.Experiment, owner *lab.Workspace, sessions []*lab.Workspace) ([]*lab.Run, error) {
	update, err := owner.StartTfweaver(ctx, "apply", "-auto-approve", "-json")
	if err != nil {
		return nil, err
	}
	runs := []*lab.Run{update}
	if err := e.Cloud.Await(ctx, "the network is being updated", updating); err != nil {
		return nil, err
	}
	for _, w := range sessions {
		run, err := w.StartTfweaver(ctx, "apply", "-auto-approve", "-json")
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

func updating(log activity.Log) bool {
	return slices.ContainsFunc(log.Operations, func(o activity.Operation) bool {
		return lab.Is(o, "virtualNetworks", "net") && !o.Done()
	})
}

// awaitQueue waits until n calls wait, and returns their sessions in the order
// of the queue, which is that of submission.
func awaitQueue(ctx context.Context, e *lab.Experiment, n int) (queue []string, err error) {
	err = e.AwaitStatus(ctx, fmt.Sprintf("%d calls wait", n), func(s lab.Status) bool {
		queue = nil
		for _, tx := range s.Transactions {
			if tx.Status == "queued" {
				queue = append(queue, strings.TrimPrefix(tx.Address, "simcloud_subnet."))
			}
		}
		return len(queue) == n
	})
	return queue, err
}

func succeed(r *lab.Run, err error) error {
	if err != nil {
		return err
	}
	return r.MustSucceed()
}

func judge(log activity.Log, queue []string) Result {
	r := Result{Queue: queue, Refused: len(log.Refused)}
	var writes []activity.Operation
	for _, o := range log.Operations {
		if !strings.HasSuffix(o.ObjectType, "/subnets") {
			continue
		}
		writes = append(writes, o)
		r.Ran = append(r.Ran, o.Actor)
		r.OneByOne += o.Duration()
		if o.Result == activity.Succeeded {
			r.Succeeded++
		}
	}
	r.Gaps = lab.Gaps(writes)
	r.Together = activity.Log{Operations: writes}.Makespan()
	return r
}
