// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"context"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// BucketStatus is how a bucket of capacity stands.
type BucketStatus struct {
	Bucket escrow.Key `json:"bucket"`
	// Node and Name are the parts of the key, where it belongs to a node.
	Node graph.NodeID `json:"node,omitempty"`
	Name string       `json:"name"`
	// Limit is not set where none is known.
	Limit escrow.Bound `json:"limit"`
	// Used is the confirmed use, everybody's included and as far as it is
	// certain at most; not set where it is not known. Then nothing is refused
	// and nothing waits for the bucket.
	Used escrow.Bound `json:"used"`
	// Reserved is what transactions in flight may add, and Freeing what they
	// may free.
	Reserved int64 `json:"reserved"`
	Freeing  int64 `json:"freeing"`
	// Doubt is how much of Reserved may be in Used already: calls that ran when
	// it was read.
	Doubt int64 `json:"doubt,omitempty"`
	// Available is what a new transaction can have now; not set where limit or
	// use is not known.
	Available escrow.Bound `json:"available"`
	// Overcommitted: more may be in use than the limit allows.
	Overcommitted bool `json:"overcommitted,omitempty"`
	// ReadAt is when the last reading was taken over, in nanoseconds since the
	// Unix epoch; 0 for never.
	ReadAt int64 `json:"read_at,omitempty"`
	// Shares are who reserved what.
	Shares []BucketShare `json:"shares,omitempty"`
}

// BucketShare is what one transaction holds of a bucket.
type BucketShare struct {
	Tx admission.TxID `json:"tx"`
	// Address is Terraform's; empty for the reservation of a whole plan.
	Address   string              `json:"address,omitempty"`
	Session   admission.SessionID `json:"session"`
	Actor     string              `json:"actor"`
	Objective string              `json:"objective"`
	Reserved  int64               `json:"reserved"`
	Freeing   int64               `json:"freeing"`
	// Uncertain: the outcome of one of its calls is not known.
	Uncertain bool `json:"uncertain,omitempty"`
}

// Measure takes over what a session read about buckets. The time of the command
// is set here.
func (c *Coordinator) Measure(ctx context.Context, read admission.Measure) error {
	return c.do(ctx, &op{
		command: func(_ *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
			read.Stamp = stamp
			return read, nil
		},
	})
}

// Buckets says how the buckets stand, in the order of keys; without keys, all
// that are known, sorted.
func (c *Coordinator) Buckets(ctx context.Context, keys []escrow.Key) ([]BucketStatus, error) {
	list := []BucketStatus{}
	err := c.ask(ctx, func(st *admission.State) error {
		list = buckets(st, keys)
		return nil
	})
	return list, err
}

func buckets(st *admission.State, keys []escrow.Key) []BucketStatus {
	t := st.Capacity()
	if len(keys) == 0 {
		keys = t.Buckets()
	}
	list := make([]BucketStatus, 0, len(keys))
	for _, k := range keys {
		list = append(list, bucket(st, t, k))
	}
	return list
}

func bucket(st *admission.State, t *escrow.Table, k escrow.Key) BucketStatus {
	l := t.Level(k)
	s := BucketStatus{
		Bucket: k, Limit: l.Limit, Reserved: l.Plus, Freeing: l.Minus, Doubt: l.Doubt,
		Overcommitted: l.Overcommitted, ReadAt: st.BucketRead(k),
	}
	s.Node, s.Name, _ = admission.NodeOfBucket(k)
	if l.Known {
		s.Used = escrow.At(l.High)
	}
	if l.Known && l.Limit.Set {
		s.Available = escrow.At(max(0, l.Limit.Value-l.Sup))
	}
	for _, share := range t.Shares(k) {
		s.Shares = append(s.Shares, bucketShare(st, share))
	}
	return s
}

func bucketShare(st *admission.State, share escrow.Share) BucketShare {
	s := BucketShare{
		Tx: admission.TxID(share.Owner), Reserved: share.Plus, Freeing: share.Minus, Uncertain: share.Uncertain,
	}
	if tx, ok := st.Tx(s.Tx); ok {
		x, _ := st.Session(tx.Session)
		s.Address, s.Session, s.Actor, s.Objective = tx.Address, tx.Session, x.Actor, objective(st, &tx)
	}
	return s
}
