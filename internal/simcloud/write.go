// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Call is one write as it reaches the cloud, with its sender authenticated.
type Call struct {
	// Method is PUT or DELETE.
	Method string
	// Path is the id of the object as the caller spelled it.
	Path string
	// Body is the JSON of the resource, for a PUT.
	Body []byte
	// IfMatch is the change token the caller holds, empty for none.
	IfMatch       string
	Actor         string
	UserAgent     string
	CorrelationID string
	RequestID     string
	// Session is what the caller says it works in, for the log only.
	Session string
	// Received is when the call reached the cloud; zero means now.
	Received time.Time
}

// Accepted is the answer to a write that was not refused.
type Accepted struct {
	// HTTPStatus is 201 for a creation, 202 for an update or a deletion, and 204
	// for a deletion of what is not there.
	HTTPStatus int
	// OperationID names the asynchronous operation, empty for status 204.
	OperationID string
	// Resource is the object in its accepted form, nil for a deletion.
	Resource *arm.Resource
}

// change is a write on its way through the checks.
type change struct {
	call       Call
	id         arm.ID
	verb       Verb
	now        time.Time
	object     *object       // as it is, nil if absent
	after      *arm.Resource // as it is to be, nil for a deletion
	holds      []hold
	supersedes []*operation
	met        *fault  // nil for none
	born       *object // what an accepted change creates, not in the world yet
}

// event starts an event about the change, with the life of the object it meets.
func (ch *change) event() activity.Event {
	e := ch.call.event(ch.now, ch.id)
	if ch.object != nil {
		ch.object.identify(&e)
	}
	if ch.met != nil {
		e.Fault = ch.met.effects()
	}
	return e
}

// before is a copy of the object as it is, nil if it is absent.
func (ch *change) before() *arm.Resource {
	if ch.object == nil {
		return nil
	}
	r := ch.object.res.Clone()
	return &r
}

// Write takes one write call. It either accepts it and starts an operation, or
// refuses it and changes nothing. Both leave an event in the activity log. Of a
// fault it meets only what concerns its operation happens.
func (c *Cloud) Write(call Call) (Accepted, *arm.Error) {
	return c.write(call, c.meet(call))
}

// write is Write of a call that has met a fault, or none.
func (c *Cloud) write(call Call, met *fault) (Accepted, *arm.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := &change{call: call, met: met, now: c.clock.Now()}
	if ch.call.RequestID == "" {
		ch.call.RequestID = c.newID()
	}
	if ch.call.Received.IsZero() {
		ch.call.Received = ch.now
	}
	if refusal := c.check(ch); refusal != nil {
		c.giveBack(met)
		return Accepted{}, c.refuse(ch, refusal)
	}
	return c.accept(ch)
}

// check runs the checks in order; the first refusal counts. What does not
// depend on the state of the object comes first.
func (c *Cloud) check(ch *change) *arm.Error {
	refusal := firstRefusal(ch, c.checkOpen, c.checkThrottle, c.checkTarget, c.checkQuotaWrite, c.checkContent, c.checkGroup)
	if refusal != nil || ch.isNoOp() {
		return refusal
	}
	return firstRefusal(ch, c.checkParent, c.checkToken, c.checkInFlight, c.checkLocation,
		c.checkReferences, c.checkAddresses, c.checkRule, c.checkInUse, c.checkMachine, c.checkShares, c.checkQuota)
}

func firstRefusal(ch *change, steps ...func(*change) *arm.Error) *arm.Error {
	for _, step := range steps {
		if refusal := step(ch); refusal != nil {
			return refusal
		}
	}
	return nil
}

// isNoOp reports a deletion of what is not there.
func (ch *change) isNoOp() bool {
	return ch.verb == Delete && ch.object == nil
}

// checkOpen refuses calls to a closed cloud.
func (c *Cloud) checkOpen(*change) *arm.Error {
	if c.closed {
		return &arm.Error{HTTPStatus: http.StatusServiceUnavailable, Code: arm.CodeInternal, Message: ErrClosed.Error()}
	}
	return nil
}

// checkTarget finds the object and the verb.
func (c *Cloud) checkTarget(ch *change) *arm.Error {
	id, err := arm.ParseID(ch.call.Path)
	if err != nil {
		return &arm.Error{HTTPStatus: http.StatusBadRequest, Code: arm.CodeInvalidResourceID, Message: err.Error()}
	}
	ch.id = id
	if !c.hasSubscription(id.Subscription) {
		return &arm.Error{HTTPStatus: http.StatusNotFound, Code: arm.CodeSubscriptionNotFound, Message: "the subscription " + id.Subscription + " is not known"}
	}
	if o, ok := c.objects[id.Key()]; ok {
		// The first spelling of an id is the one the cloud keeps.
		ch.object, ch.id = o, o.id
	}
	if ch.call.Method != http.MethodDelete && ch.call.Method != http.MethodPut {
		return &arm.Error{HTTPStatus: http.StatusMethodNotAllowed, Code: arm.CodeMethodNotAllowed, Message: "a resource takes GET, PUT and DELETE"}
	}
	ch.verb = verbOf(ch.call.Method, ch.object)
	return nil
}

// verbOf is what a method does to an object, which is nil if it is absent. A PUT
// over a creation that failed is a creation still.
func verbOf(method string, o *object) Verb {
	switch {
	case method == http.MethodDelete:
		return Delete
	case o == nil || !o.provisioned:
		return Create
	}
	return Update
}

// refuse logs a refusal. A log that cannot be written makes it an internal
// error: what is not in the log must not be answered as if it were.
func (c *Cloud) refuse(ch *change, refusal *arm.Error) *arm.Error {
	if refusal.Target == "" {
		refusal.Target = ch.call.Path
		if ch.id.Kind != 0 {
			refusal.Target = ch.id.String()
		}
	}
	e := ch.event()
	e.Status, e.HTTPStatus = activity.Refused, refusal.HTTPStatus
	e.ErrorCode, e.BlockedBy = string(refusal.Code), refusal.Blocking
	if err := c.record(e); err != nil {
		return logFailure(err)
	}
	return refusal
}

// Refuse logs a write that did not get as far as Write, for example for lack of
// authentication, and returns the error to answer with.
func (c *Cloud) Refuse(call Call, refusal *arm.Error) *arm.Error {
	return c.refuseUnseen(call, nil, refusal)
}

// refuseUnseen is Refuse of a call that has met a fault, or none.
func (c *Cloud) refuseUnseen(call Call, met *fault, refusal *arm.Error) *arm.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := &change{call: call, met: met, now: c.clock.Now()}
	if id, err := arm.ParseID(call.Path); err == nil {
		ch.id, ch.object = id, c.objects[id.Key()]
	}
	return c.refuse(ch, refusal)
}

// accept logs the change and starts its operation.
func (c *Cloud) accept(ch *change) (Accepted, *arm.Error) {
	if ch.isNoOp() {
		e := ch.event()
		e.Status, e.HTTPStatus = activity.Succeeded, http.StatusNoContent
		if err := c.record(e); err != nil {
			return Accepted{}, logFailure(err)
		}
		return Accepted{HTTPStatus: e.HTTPStatus}, nil
	}
	answer := Accepted{HTTPStatus: http.StatusAccepted, OperationID: c.newID()}
	if ch.verb == Create {
		answer.HTTPStatus = http.StatusCreated
	}
	if ch.object == nil {
		ch.born = c.newObject(ch.id)
	}
	if err := c.record(ch.acceptance(answer)); err != nil {
		return Accepted{}, logFailure(err)
	}
	c.start(ch, answer.OperationID)
	if ch.verb != Delete {
		r := c.view(ch.object)
		answer.Resource = &r
	}
	return answer, nil
}

// acceptance is the event of an accepted change.
func (ch *change) acceptance(answer Accepted) activity.Event {
	e := ch.event()
	if ch.born != nil {
		ch.born.identify(&e)
	}
	e.Status, e.OperationID, e.HTTPStatus = activity.Accepted, answer.OperationID, answer.HTTPStatus
	e.Creates, e.Body = ch.verb == Create, loggedBody(ch)
	return e
}

// loggedBody is the body of a write in the log. As in the real log only some
// types have one, so a reader cannot rely on it.
func loggedBody(ch *change) json.RawMessage {
	if ch.after == nil || (ch.id.Kind != arm.VirtualNetwork && ch.id.Kind != arm.ResourceGroup) {
		return nil
	}
	body, err := json.Marshal(ch.after)
	if err != nil {
		return nil
	}
	return body
}

func logFailure(err error) *arm.Error {
	return &arm.Error{HTTPStatus: http.StatusInternalServerError, Code: arm.CodeInternal, Message: "the activity log cannot be written: " + err.Error()}
}

// event starts an event about the call.
func (call Call) event(now time.Time, id arm.ID) activity.Event {
	e := activity.Event{
		Time: now.UTC(), Actor: call.Actor, UserAgent: call.UserAgent,
		CorrelationID: call.CorrelationID, RequestID: call.RequestID, Method: call.Method,
		Session: call.Session, ObjectID: call.Path, Received: call.Received.UTC(),
	}
	if call.Received.IsZero() {
		e.Received = e.Time
	}
	if id.Kind != 0 {
		e.ObjectID, e.ObjectType = id.String(), id.Kind.Type()
		e.Operation = operationName(id.Kind, call.Method == http.MethodDelete)
	}
	return e
}

// record appends an event to the log and to the part kept in memory.
func (c *Cloud) record(e activity.Event) error {
	if c.log != nil {
		if err := c.log.Append(e); err != nil {
			return err
		}
	}
	c.kept = append(c.kept, e)
	if len(c.kept) > maxKeptEvents {
		c.kept = c.kept[len(c.kept)-maxKeptEvents:]
	}
	return nil
}
