// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Read returns one object as it is, also while a write of it is in flight.
func (c *Cloud) Read(call Call) (arm.Resource, *arm.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, err := arm.ParseID(call.Path)
	if err != nil {
		return arm.Resource{}, c.noteRead(call, id, badRequest(arm.CodeInvalidResourceID, "%v", err))
	}
	o, ok := c.objects[id.Key()]
	if !ok {
		return arm.Resource{}, c.noteRead(call, id, c.notFound(id))
	}
	return o.res.Clone(), c.noteRead(call, o.id, nil)
}

func (c *Cloud) notFound(id arm.ID) *arm.Error {
	e := &arm.Error{HTTPStatus: http.StatusNotFound, Code: arm.CodeResourceNotFound, Message: id.String() + " was not found", Target: id.String()}
	if _, ok := c.objects[id.GroupID().Key()]; !ok && id.Group != "" {
		e.Code = arm.CodeResourceGroupNotFound
	}
	return e
}

// List returns the objects of a collection, sorted by id.
func (c *Cloud) List(call Call) (arm.ResourceList, *arm.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := arm.ResourceList{Value: []arm.Resource{}}
	collection, err := arm.ParseCollection(call.Path)
	if err != nil {
		return list, c.noteRead(call, arm.ID{}, badRequest(arm.CodeInvalidResourceID, "%v", err))
	}
	top := collection.Parent.Kind == 0
	if _, ok := c.objects[collection.Parent.Key()]; !ok && !top {
		return list, c.noteRead(call, arm.ID{}, c.notFound(collection.Parent))
	}
	for _, o := range c.objects {
		parent, _ := o.id.Parent()
		member := top && strings.EqualFold(o.id.Subscription, collection.Parent.Subscription) || !top && parent.Key() == collection.Parent.Key()
		if o.id.Kind == collection.Kind && member {
			list.Value = append(list.Value, o.res.Clone())
		}
	}
	slices.SortFunc(list.Value, func(a, b arm.Resource) int {
		return strings.Compare(strings.ToLower(a.ID), strings.ToLower(b.ID))
	})
	return list, c.noteRead(call, arm.ID{}, nil)
}

// Operation returns how an asynchronous operation stands.
func (c *Cloud) Operation(number string) (arm.OperationStatus, *arm.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	op, ok := c.operations[number]
	if !ok {
		return arm.OperationStatus{}, &arm.Error{HTTPStatus: http.StatusNotFound, Code: arm.CodeResourceNotFound, Message: "the operation is not known", Target: number}
	}
	status := arm.OperationStatus{Name: number, Status: op.status, StartTime: op.start.UTC()}
	if !op.end.IsZero() {
		end := op.end.UTC()
		status.EndTime = &end
	}
	if op.failure != nil {
		detail := op.failure.Body().Error
		status.Error = &detail
	}
	return status, nil
}

// noteRead logs a read if reads are logged, and passes its error on.
func (c *Cloud) noteRead(call Call, id arm.ID, failure *arm.Error) *arm.Error {
	if !c.cfg.LogReads {
		return failure
	}
	e := call.event(c.clock.Now(), id)
	e.Status, e.HTTPStatus = activity.Succeeded, http.StatusOK
	if id.Kind != 0 {
		e.Operation = id.Kind.Type() + "/read"
	}
	if failure != nil {
		e.Status, e.HTTPStatus, e.ErrorCode = activity.Refused, failure.HTTPStatus, string(failure.Code)
	}
	if err := c.record(e); err != nil {
		return logFailure(err)
	}
	return failure
}
