// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Key identifies a bucket, such as "azure/cores/sub-1/westeurope". The table
// never interprets it.
type Key string

// MaxAmount bounds a single effect, limit or observed use, in the unit of its
// bucket, so that no sum can overflow.
const MaxAmount = 1 << 40

// ErrMalformed: an effect, order, bound or snapshot is not one that this
// package could have made. Nothing was changed.
var ErrMalformed = errors.New("malformed capacity request")

// Effect is what a call does to one bucket: positive amounts consume, negative
// ones free.
type Effect struct {
	Bucket Key   `json:"bucket"`
	Amount int64 `json:"amount"`
}

// Effects are the effects of one call: at most one a bucket, none of them
// zero, sorted by bucket.
type Effects []Effect

// Collect makes Effects of a list: amounts on one bucket are added up, and
// what comes to nothing is left out.
func Collect(list ...Effect) Effects {
	sum := make(map[Key]int64, len(list))
	for _, e := range list {
		sum[e.Bucket] += e.Amount
	}
	out := make(Effects, 0, len(sum))
	for k, n := range sum {
		if n != 0 {
			out = append(out, Effect{Bucket: k, Amount: n})
		}
	}
	slices.SortFunc(out, func(a, b Effect) int { return cmp.Compare(a.Bucket, b.Bucket) })
	return out
}

// Amount is the effect on a bucket; 0 where there is none.
func (e Effects) Amount(k Key) int64 {
	i, ok := slices.BinarySearchFunc(e, k, func(x Effect, k Key) int { return cmp.Compare(x.Bucket, k) })
	if !ok {
		return 0
	}
	return e[i].Amount
}

// Validate checks that Collect could have made the effects.
func (e Effects) Validate() error {
	for i, x := range e {
		switch {
		case x.Bucket == "":
			return fmt.Errorf("%w: an effect without a bucket", ErrMalformed)
		case x.Amount == 0 || x.Amount > MaxAmount || x.Amount < -MaxAmount:
			return fmt.Errorf("%w: effect of %d on %s", ErrMalformed, x.Amount, x.Bucket)
		case i > 0 && e[i-1].Bucket >= x.Bucket:
			return fmt.Errorf("%w: %s is out of order or named twice", ErrMalformed, x.Bucket)
		}
	}
	return nil
}

func (e Effects) keys() []Key {
	list := make([]Key, 0, len(e))
	for _, x := range e {
		list = append(list, x.Bucket)
	}
	return list
}
