// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import "encoding/binary"

// canonical writes values so that every text and list carries its length.
type canonical struct {
	b     []byte
	index func(uint64) uint64
}

func (c *canonical) number(v uint64) { c.b = binary.AppendUvarint(c.b, v) }

func (c *canonical) amount(v int64) { c.b = binary.AppendVarint(c.b, v) }

func (c *canonical) text(s string) {
	c.number(uint64(len(s)))
	c.b = append(c.b, s...)
}

func (c *canonical) flag(v bool) {
	if v {
		c.b = append(c.b, 1)
		return
	}
	c.b = append(c.b, 0)
}

// at keeps apart no index, which is 0, from the first one.
func (c *canonical) at(i uint64) {
	c.flag(i != 0)
	if i != 0 {
		c.number(c.index(i))
	}
}

func (c *canonical) bound(b Bound) {
	c.flag(b.Set)
	c.amount(b.Value)
}

func (c *canonical) bucket(b bucket) {
	c.bound(b.limit)
	c.bound(b.floor)
	c.flag(b.known)
	c.amount(b.low)
	c.amount(b.high)
	c.at(b.began)
	c.at(b.at)
	c.at(b.horizon)
	c.number(uint64(len(b.ended)))
	for _, l := range b.ended {
		c.at(l.Index)
		c.amount(l.Plus)
		c.amount(l.Minus)
	}
}

func (c *canonical) calls(list []Held) {
	c.number(uint64(len(list)))
	for _, h := range list {
		c.text(string(h.ID))
		c.number(uint64(len(h.Effects)))
		for _, e := range h.Effects {
			c.text(string(e.Bucket))
			c.amount(e.Amount)
		}
		c.number(uint64(len(h.After)))
		for _, a := range h.After {
			c.text(string(a))
		}
		c.flag(h.Claimed)
		c.at(h.Started)
		c.flag(h.Uncertain)
	}
}
