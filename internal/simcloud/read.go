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
	return c.view(o), c.noteRead(call, o.id, nil)
}

// view is an object as it is shown: with what the cloud counts about it.
func (c *Cloud) view(o *object) arm.Resource {
	r := o.res.Clone()
	p := &r.Properties
	switch o.id.Kind {
	case arm.Subnet:
		n := len(c.taken(o))
		p.UsedAddresses = &n
	case arm.ManagedDisk:
		for _, user := range c.users(o.id.Key()) {
			p.AttachedMachines = append(p.AttachedMachines, arm.Reference{ID: user.id.String()})
		}
	case arm.Quota:
		n := c.used(o.id.Subscription, o.id.ParentName, o.id.QuotaFamily())
		p.CurrentValue = &n
	}
	return r
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
		if o.id.Kind == collection.Kind && isMember(o.id, collection.Parent) {
			list.Value = append(list.Value, c.view(o))
		}
	}
	slices.SortFunc(list.Value, func(a, b arm.Resource) int {
		return strings.Compare(strings.ToLower(a.ID), strings.ToLower(b.ID))
	})
	return list, c.noteRead(call, arm.ID{}, nil)
}

// isMember reports whether an object stands directly in a parent, which is a
// subscription or a location of one if its kind is zero.
func isMember(id, parent arm.ID) bool {
	if parent.Kind == 0 {
		return strings.EqualFold(id.Subscription, parent.Subscription) && strings.EqualFold(id.ParentName, parent.ParentName)
	}
	have, _ := id.Parent()
	return have.Key() == parent.Key()
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
	if o, ok := c.objects[id.Key()]; ok {
		o.identify(&e)
	}
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
