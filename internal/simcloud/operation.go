// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"slices"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// operation is an accepted asynchronous write.
type operation struct {
	number string // its id
	id     arm.ID
	verb   Verb
	call   Call
	holds  []hold
	object *object // the life of the object that the write began or met
	// previous is the object before the write, nil if it was created by it.
	previous *arm.Resource
	start    time.Time
	end      time.Time
	status   string // arm.OperationInProgress until it ends
	failure  *arm.Error
	doomed   *arm.Error // the failure to end with, if it is to fail
	stop     func()
}

// name is the action in the activity log.
func (op *operation) name() string { return operationName(op.id.Kind, op.verb == Delete) }

func operationName(kind arm.Kind, isDelete bool) string {
	if isDelete {
		return kind.Type() + "/delete"
	}
	return kind.Type() + "/write"
}

// start begins an accepted change: the object takes its new form at once and its
// final state when the latency is over.
func (c *Cloud) start(ch *change, number string) *operation {
	op := &operation{
		number: number, id: ch.id, verb: ch.verb, call: ch.call, holds: ch.holds,
		previous: ch.before(), start: ch.now, status: arm.OperationInProgress,
		doomed: c.failNext[ch.id.Key()],
	}
	delete(c.failNext, ch.id.Key())
	delay := c.delay(ch)
	if f := ch.met; f != nil && f.FailAfter > 0 {
		delay, op.doomed = f.FailAfter, &arm.Error{Code: f.Code, Message: f.Message, Target: ch.id.String()}
	}
	for _, loser := range ch.supersedes {
		// The loser ends at the instant the winner begins.
		c.cancel(loser, ch.now, arm.CodeSuperseded, "superseded by "+op.name()+" of "+op.id.String(), op.number)
	}
	c.place(ch)
	op.object = ch.object
	c.operations[number] = op
	c.inFlight = append(c.inFlight, op)
	op.stop = c.clock.AfterFunc(delay, func() { c.expire(op) })
	return op
}

// delay is the latency of a change; the first accepted write of an actor may
// take longer, and a fault may say otherwise.
func (c *Cloud) delay(ch *change) time.Duration {
	d := c.cfg.latency(ch.id, ch.verb)
	if !c.firstDone[ch.call.Actor] {
		c.firstDone[ch.call.Actor] = true
		d += c.cfg.firstCallExtra(ch.call.Actor)
	}
	if ch.met != nil && ch.met.Latency > 0 {
		return ch.met.Latency
	}
	return d
}

// place puts the accepted form of the object into the world.
func (c *Cloud) place(ch *change) {
	if ch.verb == Delete {
		ch.object.res.Properties.ProvisioningState = arm.Deleting
	} else {
		if ch.object == nil {
			ch.object = ch.born
			c.add(ch.born)
		}
		now := ch.object.res.Properties
		ch.after.Properties.Revision, ch.after.Properties.UniqueID = now.Revision, now.UniqueID
		ch.object.res = *ch.after
		ch.object.res.Properties.ProvisioningState = arm.Updating
		if ch.verb == Create {
			ch.object.res.Properties.ProvisioningState = arm.Creating
		}
	}
	c.touch(ch.object)
}

// touch gives an object a new change token, and a function a new revision. A
// rule is part of the document of its security group, and a permission of its
// function: they change their parents too.
func (c *Cloud) touch(o *object) {
	o.res.Etag = c.newEtag()
	switch o.id.Kind {
	case arm.Function:
		o.res.Properties.Revision++
	case arm.SecurityRule, arm.FunctionPermission:
		if parent, ok := c.objects[parentKey(o.id)]; ok {
			c.touch(parent)
		}
	}
}

// expire is the timer of an operation.
func (c *Cloud) expire(op *operation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// A timer that was already running when its operation was canceled, or when
	// the cloud was closed or reset, must not end anything.
	if c.closed || op.status != arm.OperationInProgress || c.operations[op.number] != op {
		return
	}
	if op.doomed != nil {
		c.fail(op)
		return
	}
	c.succeed(op)
}

func (c *Cloud) succeed(op *operation) {
	c.settle(op, c.clock.Now(), arm.OperationSucceeded, nil, "")
	if op.verb == Delete {
		c.remove(op)
		return
	}
	if o, ok := c.objects[op.id.Key()]; ok {
		o.provisioned = true
		o.res.Properties.ProvisioningState = arm.Succeeded
	}
}

// fail ends an operation Failed. What was to be created or changed stays there
// in state Failed, as in the real cloud, until it is written again or deleted.
func (c *Cloud) fail(op *operation) {
	c.settle(op, c.clock.Now(), arm.OperationFailed, op.doomed, "")
	if o, ok := c.objects[op.id.Key()]; ok {
		o.res.Properties.ProvisioningState = arm.Failed
	}
}

// cancel ends an operation before its time and undoes it: an object it created
// is gone, an object it changed is as before, in state Canceled.
func (c *Cloud) cancel(op *operation, at time.Time, code arm.Code, message, by string) {
	op.stop()
	c.settle(op, at, arm.OperationCanceled, &arm.Error{Code: code, Message: message, Target: op.id.String()}, by)
	o, ok := c.objects[op.id.Key()]
	switch {
	case !ok:
	case op.previous == nil:
		delete(c.objects, op.id.Key())
	default:
		o.res = op.previous.Clone()
		o.res.Properties.ProvisioningState = arm.Canceled
		c.touch(o)
	}
}

// remove takes a deleted object and everything below it out of the world.
// Operations still running below a deleted group are canceled with it.
func (c *Cloud) remove(op *operation) {
	inside := op.id.Key() + "/"
	for _, other := range slices.Clone(c.inFlight) {
		if strings.HasPrefix(other.id.Key(), inside) {
			c.cancel(other, op.end, arm.CodeResourceGroupBeingDeleted, "the resource group was deleted", op.number)
		}
	}
	for _, child := range c.below(op.id) {
		delete(c.objects, child.id.Key())
	}
	delete(c.objects, op.id.Key())
}

// settle records the end of an operation.
func (c *Cloud) settle(op *operation, at time.Time, status string, failure *arm.Error, by string) {
	op.status, op.failure, op.end = status, failure, at
	c.inFlight = slices.DeleteFunc(c.inFlight, func(o *operation) bool { return o == op })
	e := op.call.event(op.end, op.id)
	op.object.identify(&e)
	e.OperationID, e.BlockedBy = op.number, by
	e.Status = endStatus(status)
	if failure != nil {
		e.ErrorCode = string(failure.Code)
	}
	if err := c.record(e); err != nil {
		// The operation has ended whether or not the log can say so; the failure
		// is reported by Close and in the operational log.
		c.cfg.Logger.Error("activity log", "error", err, "operation", op.number)
		if c.logErr == nil {
			c.logErr = err
		}
	}
}

func endStatus(status string) activity.Status {
	switch status {
	case arm.OperationFailed:
		return activity.Failed
	case arm.OperationCanceled:
		return activity.Canceled
	}
	return activity.Succeeded
}
