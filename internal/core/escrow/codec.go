// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// snapshot is the JSON form of a Table.
type snapshot struct {
	Buckets []savedBucket `json:"buckets"`
	Holds   []savedHold   `json:"holds"`
}

type savedBucket struct {
	Key     Key       `json:"key"`
	Limit   Bound     `json:"limit,omitzero"`
	Floor   Bound     `json:"floor,omitzero"`
	Known   bool      `json:"known,omitempty"`
	Low     int64     `json:"low,omitempty"`
	High    int64     `json:"high,omitempty"`
	Began   uint64    `json:"began,omitempty"`
	At      uint64    `json:"at,omitempty"`
	Ended   []landing `json:"ended,omitempty"`
	Horizon uint64    `json:"horizon,omitempty"`
}

type savedHold struct {
	Owner Owner  `json:"owner"`
	Calls []Held `json:"calls"`
}

// MarshalJSON writes a snapshot: the same bytes for equal tables.
func (t *Table) MarshalJSON() ([]byte, error) {
	out := snapshot{Buckets: []savedBucket{}, Holds: []savedHold{}}
	for _, k := range t.Buckets() {
		b := t.buckets.Get(k)
		out.Buckets = append(out.Buckets, savedBucket{
			Key: k, Limit: b.limit, Floor: b.floor, Known: b.known, Low: b.low, High: b.high,
			Began: b.began, At: b.at, Ended: b.ended, Horizon: b.horizon,
		})
	}
	for _, o := range t.Owners() {
		out.Holds = append(out.Holds, savedHold{Owner: o, Calls: t.holds.Get(o).calls})
	}
	return json.Marshal(out)
}

// UnmarshalJSON replaces the table by a snapshot. A field that this version
// does not know is an error, and so is what no table can have written; either
// changes nothing.
func (t *Table) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var in snapshot
	if err := d.Decode(&in); err != nil {
		return fmt.Errorf("read capacity: %w", err)
	}
	fresh, err := restore(in)
	if err != nil {
		return fmt.Errorf("read capacity: %w", err)
	}
	*t = *fresh
	return nil
}

func restore(in snapshot) (*Table, error) {
	t := NewTable()
	for _, s := range in.Buckets {
		if err := t.restoreBucket(s); err != nil {
			return nil, err
		}
	}
	for _, s := range in.Holds {
		if err := t.restoreHold(s); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Table) restoreBucket(s savedBucket) error {
	twice := t.buckets.Has(s.Key)
	ordered := slices.IsSortedFunc(s.Ended, func(a, b landing) int { return cmp.Compare(a.Index, b.Index) })
	if s.Key == "" || twice || !s.Limit.valid() || !s.Floor.valid() || s.Low > s.High || s.Began > s.At || !ordered {
		return fmt.Errorf("%w: bucket %q", ErrMalformed, s.Key)
	}
	t.buckets.Set(&t.owner, s.Key, bucket{
		limit: s.Limit, floor: s.Floor, known: s.Known, low: s.Low, high: s.High,
		began: s.Began, at: s.At, ended: s.Ended, horizon: s.Horizon,
	})
	return nil
}

func (t *Table) restoreHold(s savedHold) error {
	h := newHold(s.Calls)
	if err := h.order().Validate(); err != nil {
		return fmt.Errorf("hold of %q: %w", s.Owner, err)
	}
	wrong := func(c Held) bool {
		return c.Started != 0 && (!c.Claimed || len(c.After) > 0) || c.Started == 0 && c.Uncertain
	}
	if s.Owner == "" || t.holds.Get(s.Owner) != nil || slices.ContainsFunc(s.Calls, wrong) {
		return fmt.Errorf("%w: hold of %q", ErrMalformed, s.Owner)
	}
	t.replace(s.Owner, h)
	return nil
}

// Indexes are the journal indexes that decisions depend on, by their order
// only; in no particular order.
func (t *Table) Indexes() []uint64 {
	var list []uint64
	for _, b := range t.buckets.All {
		list = append(list, b.began, b.at, b.horizon)
		for _, l := range b.ended {
			list = append(list, l.Index)
		}
	}
	for _, h := range t.holds.All {
		for _, c := range h.calls {
			list = append(list, c.Started)
		}
	}
	return list
}

// AppendCanonical appends the canonical form: equal bytes for equal tables,
// different ones for different tables, each table's form the prefix of no
// other's. Index rewrites journal indexes, for a coarser form that keeps their
// order only; nil writes them as they are.
func (t *Table) AppendCanonical(to []byte, index func(uint64) uint64) []byte {
	if index == nil {
		index = func(i uint64) uint64 { return i }
	}
	c := canonical{b: to, index: index}
	c.number(uint64(t.buckets.Len()))
	for k, b := range t.buckets.Sorted {
		c.text(string(k))
		c.bucket(b)
	}
	c.number(uint64(t.holds.Len()))
	for o, h := range t.holds.Sorted {
		c.text(string(o))
		c.calls(h.calls)
	}
	return c.b
}
