// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// faultCall is the JSON form of a Fault. Durations are texts such as "500ms".
type faultCall struct {
	ObjectID    string   `json:"object_id"`
	Type        string   `json:"type"` // a key of arm.Kinds, such as virtual_machine
	Verb        Verb     `json:"verb"`
	Actor       string   `json:"actor"`
	Skip        int      `json:"skip"`
	Count       int      `json:"count"`
	Probability float64  `json:"probability"`
	DropRequest bool     `json:"drop_request"`
	AcceptDelay duration `json:"accept_delay"`
	AnswerDelay duration `json:"answer_delay"`
	DropAnswer  bool     `json:"drop_answer"`
	Latency     duration `json:"latency"`
	FailAfter   duration `json:"fail_after"`
	Code        arm.Code `json:"code"`
	Message     string   `json:"message"`
}

// duration reads a text such as "500ms".
type duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = duration(parsed)
	return err
}

// ParseFault reads the JSON form of a fault, the one that the admin API and the
// command line take:
//
//	{"object_id": "...", "type": "virtual_machine", "verb": "create", "actor": "...",
//	 "skip": 0, "count": 1, "probability": 1,
//	 "drop_request": false, "accept_delay": "0s", "answer_delay": "0s", "drop_answer": true,
//	 "latency": "0s", "fail_after": "0s", "code": "...", "message": "..."}
//
// Everything may be left out save what is to happen; unknown names are errors.
func ParseFault(text []byte) (Fault, error) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	var call faultCall
	if err := in.Decode(&call); err != nil {
		return Fault{}, fmt.Errorf("fault: %w", err)
	}
	f := Fault{
		ObjectID: call.ObjectID, Verb: call.Verb, Actor: call.Actor,
		Skip: call.Skip, Count: call.Count, Probability: call.Probability,
		DropRequest: call.DropRequest, AcceptDelay: time.Duration(call.AcceptDelay),
		AnswerDelay: time.Duration(call.AnswerDelay), DropAnswer: call.DropAnswer,
		Latency: time.Duration(call.Latency), FailAfter: time.Duration(call.FailAfter),
		Code: call.Code, Message: call.Message,
	}
	if call.Type != "" {
		kind, ok := arm.KindByKey(call.Type)
		if !ok {
			return Fault{}, fmt.Errorf("fault: unknown type %q", call.Type)
		}
		f.Kind = kind
	}
	_, err := f.armed()
	return f, err
}
