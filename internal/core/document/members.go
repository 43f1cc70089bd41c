// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package document

import (
	"encoding/json"
	"errors"
	"strconv"
)

// Members writes a JSON object member by member, as encoding/json would, without
// its reflection. Those that begin with Maybe leave out what is empty.
type Members struct {
	// Bytes are what it appended to, with all that was written.
	Bytes []byte
	first bool
	err   error
}

// Begin begins an object behind b.
func Begin(b []byte) Members { return Members{Bytes: append(b, '{'), first: true} }

// End ends the object. The error is the first of those that values had.
func (m *Members) End() ([]byte, error) { return append(m.Bytes, '}'), m.err }

// Key begins a member; its value is to be appended to Bytes. Keys need no escapes.
func (m *Members) Key(k string) {
	if !m.first {
		m.Bytes = append(m.Bytes, ',')
	}
	m.first = false
	m.Bytes = append(append(append(m.Bytes, '"'), k...), '"', ':')
}

// Text writes a string.
func (m *Members) Text(k, s string) {
	m.Key(k)
	m.Bytes = AppendText(m.Bytes, s)
}

// MaybeText writes a string that is not empty.
func (m *Members) MaybeText(k, s string) {
	if s != "" {
		m.Text(k, s)
	}
}

// Count writes a number.
func (m *Members) Count(k string, v uint64) {
	m.Key(k)
	m.Bytes = strconv.AppendUint(m.Bytes, v, 10)
}

// MaybeCount writes a number that is not 0.
func (m *Members) MaybeCount(k string, v uint64) {
	if v != 0 {
		m.Count(k, v)
	}
}

// Time writes a number that may be negative.
func (m *Members) Time(k string, v int64) {
	m.Key(k)
	m.Bytes = strconv.AppendInt(m.Bytes, v, 10)
}

// MaybeTime writes a number that is not 0.
func (m *Members) MaybeTime(k string, v int64) {
	if v != 0 {
		m.Time(k, v)
	}
}

// Flag writes a truth value.
func (m *Members) Flag(k string, v bool) {
	m.Key(k)
	m.Bytes = strconv.AppendBool(m.Bytes, v)
}

// MaybeFlag writes what is true.
func (m *Members) MaybeFlag(k string, v bool) {
	if v {
		m.Flag(k, v)
	}
}

// Value leaves a value of any kind to encoding/json.
func (m *Members) Value(k string, v any) {
	m.Key(k)
	data, err := json.Marshal(v)
	m.Bytes, m.err = append(m.Bytes, data...), errors.Join(m.err, err)
}

// MaybeList leaves a list that is not empty to encoding/json.
func MaybeList[E any](m *Members, k string, list []E) {
	if len(list) > 0 {
		m.Value(k, list)
	}
}

// List writes a list, item by item; nil is null.
func List[E any](m *Members, k string, list []E, item func(b []byte, e *E) ([]byte, error)) {
	m.Key(k)
	if list == nil {
		m.Bytes = append(m.Bytes, "null"...)
		return
	}
	m.Bytes = append(m.Bytes, '[')
	for i := range list {
		if i > 0 {
			m.Bytes = append(m.Bytes, ',')
		}
		var err error
		m.Bytes, err = item(m.Bytes, &list[i])
		m.err = errors.Join(m.err, err)
	}
	m.Bytes = append(m.Bytes, ']')
}
