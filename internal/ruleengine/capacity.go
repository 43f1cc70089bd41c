// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// consumption is what objects of a type take of a bucket of other objects, for
// as long as they are there.
type consumption struct {
	name   string
	of     nodeRef
	bucket string
	amount hcl.Expression // over self and id
	meta   meta
	at     hcl.Range
}

// Bucket is a count that an operation changes, and the object whose read tells
// its limit and its use (see [Engine.ReadBack] and Seen.Readings).
type Bucket struct {
	Key   escrow.Key
	Owner graph.Decl
	// Rule is the rule that says so; one of them where there are several.
	Rule string
}

// share is what an object takes by one rule on one side of an operation: of
// each owner the same amount.
type share struct {
	owners []chain
	amount int64
	// why is the reason why not all of it could be told; nil when it could.
	why error
}

// capacity finds what the operation does to buckets: what the object will take
// afterwards less what it took before.
func (d *draft) capacity() error {
	if d.op.Action == admission.Read {
		return nil
	}
	for _, c := range d.rule.consumes {
		var shares [2]share
		for on, root := range sideRoots() {
			state := d.scope.vars[root]
			if absent(state) {
				continue
			}
			shares[on] = d.share(c, d.scope.with(rootSelf, state).with(rootID, d.subject.id), side(on))
		}
		d.consume(c, shares)
	}
	return escrow.Collect(d.firm.effects...).Validate()
}

// consume adds the difference of both sides. What is not told on one of them
// may be equal to what is told on the other: then the other side counts for
// nothing, since a free that is none would be spent by somebody else, and a
// use that is none would refuse somebody.
func (d *draft) consume(c *consumption, shares [2]share) {
	for _, s := range shares {
		if s.why != nil {
			d.note(fmt.Sprintf("capacity %s is left out: %v", c.name, s.why))
		}
	}
	p := d.part(c.meta)
	for _, effect := range difference(c, shares) {
		p.effects = append(p.effects, effect.Effect)
		p.nodes.add(effect.owner)
		if !c.meta.low {
			d.buckets = append(d.buckets, Bucket{Key: effect.Bucket, Owner: effect.owner[0], Rule: c.meta.rule})
		}
	}
}

// change is an effect on the bucket of a node.
type change struct {
	escrow.Effect
	owner chain
}

func difference(c *consumption, shares [2]share) []change {
	var list []change
	for _, owner := range shares[after].owners {
		amount := shares[after].amount
		if containsChain(shares[before].owners, owner) {
			amount -= shares[before].amount
		}
		list = append(list, c.change(owner, amount))
	}
	for _, owner := range shares[before].owners {
		if !containsChain(shares[after].owners, owner) {
			list = append(list, c.change(owner, -shares[before].amount))
		}
	}
	kept := list[:0]
	for _, x := range list {
		spurious := x.Amount < 0 && shares[after].why != nil || x.Amount > 0 && shares[before].why != nil
		if x.Amount != 0 && !spurious {
			kept = append(kept, x)
		}
	}
	return kept
}

func (c *consumption) change(owner chain, amount int64) change {
	key := admission.BucketOf(owner[0].ID, c.bucket)
	return change{Effect: escrow.Effect{Bucket: key, Amount: amount}, owner: owner}
}

// share evaluates a rule on one side. Capacity that cannot be told stops
// nobody, and neither does a rule that fails on the values.
func (d *draft) share(c *consumption, s scope, on side) share {
	amount, err := s.count(c.amount)
	if err != nil {
		return share{why: err}
	}
	owners, err := d.bucketOwners(c, s, on)
	return share{owners: owners, amount: amount, why: err}
}

// bucketOwners are the objects whose bucket is consumed. The error says why
// some of them could not be told.
func (d *draft) bucketOwners(c *consumption, s scope, on side) ([]chain, error) {
	switch c.of.form {
	case refReference:
		return d.referenced(c.of.name, on)
	case refObject:
		r := referents{}
		of := &reference{name: c.name, ids: c.of.ids, target: c.of.name}
		if err := d.refer(of, s, &r, on, func(error) {}); err != nil {
			return nil, err
		}
		return r.targets[on], r.why[on]
	case refAncestor:
		if owners := d.ancestor(c.of.steps); len(owners) > 0 {
			return owners, nil
		}
		return nil, d.subject.why
	default:
		if !d.subject.derived {
			return nil, ErrUnknown
		}
		return []chain{d.subject.chain()}, nil
	}
}

// errReference stands for what was noted with a reference.
var errReference = errors.New("the reference is not usable")

func (d *draft) referenced(name string, on side) ([]chain, error) {
	i := slices.IndexFunc(d.refs, func(r referents) bool { return r.rule.name == name })
	r := d.refs[i] // checked when the pack was loaded
	if why := r.why[on]; why != nil && !untold(why) {
		return r.targets[on], errReference
	}
	return r.targets[on], r.why[on]
}

// owners are the buckets that effects are on, in their order.
func (d *draft) owners(effects escrow.Effects) []Bucket {
	var list []Bucket
	for _, e := range effects {
		for _, b := range d.buckets {
			if b.Key == e.Bucket {
				list = append(list, b)
				break
			}
		}
	}
	return list
}

// untold says whether err only means that there is no value to work with.
func untold(err error) bool { return withheld(err) || errors.Is(err, ErrNull) }

// count evaluates an expression to a whole number from 0 to escrow.MaxAmount.
// The error is ErrUnknown, ErrSensitive or ErrNull where that is what it is.
func (s scope) count(x hcl.Expression) (int64, error) {
	v, err := s.value(x)
	if err != nil {
		return 0, err
	}
	if v, err = usable(v); err != nil {
		return 0, err
	}
	bad := func(why string) (int64, error) { return 0, &EvalError{Rule: s.rule, At: x.Range(), Detail: why} }
	n, err := convert.Convert(v, cty.Number)
	if err != nil {
		return bad(fmt.Sprintf("a number is needed: %v", err))
	}
	f := n.AsBigFloat()
	amount, exact := f.Int64()
	if exact != big.Exact || amount < 0 || amount > escrow.MaxAmount {
		return bad(fmt.Sprintf("a count is a whole number from 0 to %d, not %s", int64(escrow.MaxAmount), f.Text('g', 20)))
	}
	return amount, nil
}
