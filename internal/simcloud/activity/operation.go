// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package activity

import (
	"fmt"
	"time"
)

// Operation is one accepted change from its start to its end.
type Operation struct {
	ID string
	// Name is the action, for example "Microsoft.Network/virtualNetworks/write".
	Name          string
	Method        string
	Actor         string
	UserAgent     string
	CorrelationID string
	RequestID     string
	Session       string
	ObjectID      string
	ObjectType    string
	// Incarnation and UID are the life of the object that the operation began or
	// met.
	Incarnation int
	UID         string
	// Creates tells a creation from an update.
	Creates bool
	// Received is when the call reached the cloud, Start when it was accepted.
	Received time.Time
	Start    time.Time
	// End is zero while the operation is in flight.
	End time.Time
	// Result is Succeeded, Failed or Canceled, or Accepted while in flight.
	Result Status
	// ErrorCode says why an operation did not succeed.
	ErrorCode string
	// SupersededBy is the operation that ended this one, if one did.
	SupersededBy string
}

// Done reports whether the operation has ended.
func (o Operation) Done() bool { return !o.End.IsZero() }

// Duration is the time from start to end, zero while in flight.
func (o Operation) Duration() time.Duration {
	if !o.Done() {
		return 0
	}
	return o.End.Sub(o.Start)
}

// Overlaps reports whether both operations were in flight at one moment. An
// operation in flight lasts for ever.
func (o Operation) Overlaps(other Operation) bool {
	startsBeforeEnd := func(a, b Operation) bool { return !b.Done() || a.Start.Before(b.End) }
	return startsBeforeEnd(o, other) && startsBeforeEnd(other, o)
}

// Log is a whole activity log, understood.
type Log struct {
	// Operations are the accepted changes in the order of their starts.
	Operations []Operation
	// Refused are the write calls that changed nothing.
	Refused []Event
	// NoOps are write calls that succeeded at once because there was nothing to
	// change, such as a delete of what is not there.
	NoOps []Event
}

// Pair turns events into operations and refused calls. It fails when the end
// of an operation has no start or an operation starts or ends twice: such a
// log proves nothing.
func Pair(events []Event) (Log, error) {
	var log Log
	index := make(map[string]int)
	for n, e := range events {
		switch {
		case e.Method == "GET": // reads are in the log only on request and change nothing
		case e.Status == Refused:
			log.Refused = append(log.Refused, e)
		case e.OperationID == "":
			log.NoOps = append(log.NoOps, e)
		case e.Status == Accepted:
			if _, twice := index[e.OperationID]; twice {
				return Log{}, fmt.Errorf("activity event %d: operation %s starts twice", n+1, e.OperationID)
			}
			index[e.OperationID] = len(log.Operations)
			log.Operations = append(log.Operations, start(e))
		default:
			i, ok := index[e.OperationID]
			if !ok || log.Operations[i].Done() {
				return Log{}, fmt.Errorf("activity event %d: operation %s ends without being in flight", n+1, e.OperationID)
			}
			end(&log.Operations[i], e)
		}
	}
	return log, nil
}

func start(e Event) Operation {
	return Operation{
		ID: e.OperationID, Name: e.Operation, Method: e.Method,
		Actor: e.Actor, UserAgent: e.UserAgent,
		CorrelationID: e.CorrelationID, RequestID: e.RequestID,
		Session: e.Session, ObjectID: e.ObjectID, ObjectType: e.ObjectType,
		Incarnation: e.Incarnation, UID: e.UID, Creates: e.Creates,
		Received: e.Received, Start: e.Time, Result: Accepted,
	}
}

func end(o *Operation, e Event) {
	o.End, o.Result, o.ErrorCode, o.SupersededBy = e.Time, e.Status, e.ErrorCode, e.BlockedBy
}

// Succeeded counts the operations that ended well.
func (l Log) Succeeded() int {
	n := 0
	for _, o := range l.Operations {
		if o.Result == Succeeded {
			n++
		}
	}
	return n
}

// RefusedWith counts the refused calls with the given error code.
func (l Log) RefusedWith(code string) int {
	n := 0
	for _, e := range l.Refused {
		if e.ErrorCode == code {
			n++
		}
	}
	return n
}

// Makespan is the time from the start of the first operation to the end of the
// last one that has ended; zero for a log without ended operations.
func (l Log) Makespan() time.Duration {
	var first, last time.Time
	for _, o := range l.Operations {
		if first.IsZero() || o.Start.Before(first) {
			first = o.Start
		}
		if o.End.After(last) {
			last = o.End
		}
	}
	if last.IsZero() {
		return 0
	}
	return last.Sub(first)
}
