// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package activity is the activity log of the simulated cloud: the schema of
// its lines, a writer that never tears a line, and a reader that pairs lines
// into operations with a start and an end.
//
// The log is JSON Lines. Every write call gives one event when it is accepted
// or refused; every accepted asynchronous operation gives one more when it
// ends. From the log alone one can tell who changed what, when it began, when
// it ended and how.
package activity

import (
	"encoding/json"
	"time"
)

// Status is what an event says about its call or operation.
type Status string

// Statuses of events. Accepted opens an operation and Succeeded, Failed or
// Canceled ends it; Refused means that nothing was changed.
const (
	Accepted  Status = "Accepted"
	Succeeded Status = "Succeeded"
	Failed    Status = "Failed"
	Canceled  Status = "Canceled"
	Refused   Status = "Refused"
)

// Event is one line of the log. Empty fields are left out of the JSON.
type Event struct {
	// Time is when the cloud decided, in UTC with nanoseconds.
	Time time.Time `json:"time"`
	// Received is when the call reached the cloud, which is earlier than Time if
	// the cloud kept the call waiting. Events that end an operation repeat it.
	Received  time.Time `json:"received,omitzero"`
	Actor     string    `json:"actor,omitempty"`
	UserAgent string    `json:"user_agent,omitempty"`
	// CorrelationID ties the calls of one run together, RequestID names one call.
	CorrelationID string `json:"correlation_id,omitempty"`
	RequestID     string `json:"request_id,omitempty"`
	// Session is what the caller says it works in, if it says so.
	Session string `json:"session,omitempty"`
	// OperationID pairs the start and the end of an asynchronous operation; it
	// is empty for calls that started none.
	OperationID string `json:"operation_id,omitempty"`
	Method      string `json:"method,omitempty"`
	// Operation is the name of the action, for example
	// "Microsoft.Network/virtualNetworks/subnets/write".
	Operation  string `json:"operation,omitempty"`
	ObjectID   string `json:"object_id,omitempty"`
	ObjectType string `json:"object_type,omitempty"`
	// Incarnation counts the lives of objects with this id from 1, and UID names the
	// life: the one that a creation began, or the one that any other call met,
	// refused calls included. Both are empty if no object was there.
	Incarnation int    `json:"incarnation,omitempty"`
	UID         string `json:"uid,omitempty"`
	// Creates says that an accepted write began a life of the object or goes on
	// with a creation that had failed.
	Creates bool `json:"creates,omitempty"`
	// HTTPStatus is the status of the answer to the call; an event that ends an
	// operation has none, for no call is answered by it.
	HTTPStatus int    `json:"http_status,omitempty"`
	Status     Status `json:"status"`
	ErrorCode  string `json:"error_code,omitempty"`
	// BlockedBy is the operation in flight because of which a call was refused,
	// or which superseded an operation.
	BlockedBy string `json:"blocked_by,omitempty"`
	// Fault names the injected trouble that the call met, comma-separated, whether
	// or not it was accepted; what concerns an accepted call did not happen to a
	// refused one.
	Fault string `json:"fault,omitempty"`
	// Body is the request body; only some resource types have it.
	Body json.RawMessage `json:"body,omitempty"`
}
