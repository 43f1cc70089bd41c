// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// Record is one entry of the journal: a command and what was decided about it.
type Record struct {
	Index   uint64
	Now     int64 // nanoseconds since the Unix epoch
	Command Command
	Events  []Event
}

// record is the JSON form of a Record.
type record struct {
	Format  int      `json:"format"`
	Index   uint64   `json:"index"`
	Now     int64    `json:"now"`
	Command tagged   `json:"command"`
	Events  []tagged `json:"events"`
}

// tagged is a value with the name of its type.
type tagged struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// commandTag is the name of a command in the journal; empty for a type that
// has none. The names are part of the journal's format and never change.
func commandTag(c Command) string {
	switch c.(type) {
	case OpenSession:
		return "open_session"
	case Renew:
		return "renew"
	case CloseSession:
		return "close_session"
	case AddIntent:
		return "add_intent"
	case Declare:
		return "declare"
	case Submit:
		return "submit"
	case Start:
		return "start"
	case Complete:
		return "complete"
	case Withdraw:
		return "withdraw"
	case Observe:
		return "observe"
	case Expire:
		return "expire"
	case Resolve:
		return "resolve"
	case Deceased:
		return "deceased"
	case Settle:
		return "settle"
	case Pass:
		return "pass"
	case Measure:
		return "measure"
	default:
		return ""
	}
}

// commandReader is the inverse of commandTag; nil for an unknown name.
func commandReader(tag string) func(json.RawMessage) (Command, error) {
	switch tag {
	case "open_session":
		return readCommand[OpenSession]
	case "renew":
		return readCommand[Renew]
	case "close_session":
		return readCommand[CloseSession]
	case "add_intent":
		return readCommand[AddIntent]
	case "declare":
		return readCommand[Declare]
	case "submit":
		return readSubmit
	case "start":
		return readCommand[Start]
	case "complete":
		return readCommand[Complete]
	case "withdraw":
		return readCommand[Withdraw]
	case "observe":
		return readCommand[Observe]
	case "expire":
		return readCommand[Expire]
	case "resolve":
		return readCommand[Resolve]
	case "deceased":
		return readCommand[Deceased]
	case "settle":
		return readCommand[Settle]
	case "pass":
		return readCommand[Pass]
	case "measure":
		return readCommand[Measure]
	default:
		return nil
	}
}

func readCommand[T Command](data json.RawMessage) (Command, error) {
	var v T
	err := strict(data, &v)
	return v, err
}

func eventTag(e Event) string {
	switch e.(type) {
	case SessionOpened:
		return "session_opened"
	case LeaseRenewed:
		return "lease_renewed"
	case SessionEnded:
		return "session_ended"
	case IntentAdded:
		return "intent_added"
	case NodesPlaced:
		return "nodes_placed"
	case Declared:
		return "declared"
	case TxSubmitted:
		return "tx_submitted"
	case TxQueued:
		return "tx_queued"
	case TxAdmitted:
		return "tx_admitted"
	case TxRejected:
		return "tx_rejected"
	case TxStaled:
		return "tx_staled"
	case TxStarted:
		return "tx_started"
	case TxEnded:
		return "tx_ended"
	case TxUncertain:
		return "tx_uncertain"
	case Observed:
		return "observed"
	case SenderDied:
		return "sender_died"
	case TxPassed:
		return "tx_passed"
	case ClaimAdmitted:
		return "claim_admitted"
	case ClaimEnded:
		return "claim_ended"
	case Measured:
		return "measured"
	default:
		return ""
	}
}

func eventReader(tag string) func(json.RawMessage) (Event, error) {
	switch tag {
	case "session_opened":
		return readEvent[SessionOpened]
	case "lease_renewed":
		return readEvent[LeaseRenewed]
	case "session_ended":
		return readEvent[SessionEnded]
	case "intent_added":
		return readEvent[IntentAdded]
	case "nodes_placed":
		return readEvent[NodesPlaced]
	case "declared":
		return readEvent[Declared]
	case "tx_submitted":
		return readEvent[TxSubmitted]
	case "tx_queued":
		return readEvent[TxQueued]
	case "tx_admitted":
		return readEvent[TxAdmitted]
	case "tx_rejected":
		return readEvent[TxRejected]
	case "tx_staled":
		return readEvent[TxStaled]
	case "tx_started":
		return readEvent[TxStarted]
	case "tx_ended":
		return readEvent[TxEnded]
	case "tx_uncertain":
		return readEvent[TxUncertain]
	case "observed":
		return readEvent[Observed]
	case "sender_died":
		return readEvent[SenderDied]
	case "tx_passed":
		return readEvent[TxPassed]
	case "claim_admitted":
		return readEvent[ClaimAdmitted]
	case "claim_ended":
		return readEvent[ClaimEnded]
	case "measured":
		return readEvent[Measured]
	default:
		return nil
	}
}

func readEvent[T Event](data json.RawMessage) (Event, error) {
	var v T
	err := strict(data, &v)
	return v, err
}

// EncodeRecord writes a record as one line of JSON.
func EncodeRecord(r Record) ([]byte, error) {
	b := make([]byte, 0, 2048)
	b = append(b, `{"format":`...)
	b = strconv.AppendInt(b, Format, 10)
	b = append(b, `,"index":`...)
	b = strconv.AppendUint(b, r.Index, 10)
	b = append(b, `,"now":`...)
	b = strconv.AppendInt(b, r.Now, 10)
	b = append(b, `,"command":`...)
	b, err := appendTagged(b, commandTag(r.Command), brief(r.Command, r.Events))
	if err != nil {
		return nil, err
	}
	b = append(b, `,"events":[`...)
	for i, e := range r.Events {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendTagged(b, eventTag(e), e); err != nil {
			return nil, err
		}
	}
	return append(b, "]}"...), nil
}

// appendTagged appends the form of tagged to b. A raw message in it would be
// read once more by package json, which takes longer than to write it.
func appendTagged(b []byte, name string, v any) ([]byte, error) {
	if name == "" {
		return nil, fmt.Errorf("%w: %v has no name in the journal", ErrMalformed, reflect.TypeOf(v))
	}
	b = append(b, `{"type":"`...) // names need no escapes
	b = append(b, name...)
	b = append(b, `","data":`...)
	b, err := appendValue(b, v)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return append(b, '}'), nil
}

// DecodeRecord is the inverse of EncodeRecord. A format, type or field that
// this version does not know gives ErrNewer: an old program must not go on
// with a journal that it understands only in part.
func DecodeRecord(data []byte) (Record, error) {
	var in record
	if err := json.Unmarshal(data, &in); err != nil {
		return Record{}, fmt.Errorf("read record: %w", err)
	}
	if in.Format != Format {
		return Record{}, fmt.Errorf("record format %d: %w", in.Format, ErrNewer)
	}
	r := Record{Index: in.Index, Now: in.Now, Events: make([]Event, 0, len(in.Events))}
	read := commandReader(in.Command.Type)
	if read == nil {
		return Record{}, fmt.Errorf("record %d: command %q: %w", in.Index, in.Command.Type, ErrNewer)
	}
	var err error
	if r.Command, err = read(in.Command.Data); err != nil {
		return Record{}, fmt.Errorf("record %d: command: %w", in.Index, err)
	}
	for _, t := range in.Events {
		e, err := decodeEvent(t)
		if err != nil {
			return Record{}, fmt.Errorf("record %d: %w", in.Index, err)
		}
		r.Events = append(r.Events, e)
	}
	r.Command, err = whole(r.Command, r.Events)
	return r, err
}

func decodeEvent(t tagged) (Event, error) {
	read := eventReader(t.Type)
	if read == nil {
		return nil, fmt.Errorf("event %q: %w", t.Type, ErrNewer)
	}
	e, err := read(t.Data)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", t.Type, err)
	}
	return e, nil
}
