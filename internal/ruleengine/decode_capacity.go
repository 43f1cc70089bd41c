// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// bucketName is what a bucket may be called: it is the unit in reports.
var bucketName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

const bucketHelp = `A bucket's name begins with a small letter and has only small letters, digits, - and _, such as "addresses".`

func (d *decoder) bucketBlock(r *resource, block *hcl.Block) {
	content := d.content(block.Body, &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "limit"}, {Name: "use"}, {Name: "why"}, {Name: "source"},
	}})
	b := &bucket{name: block.Labels[0]}
	if !bucketName.MatchString(b.name) {
		d.fail(block.LabelRanges[0], "Invalid bucket name", bucketHelp)
	}
	if slices.ContainsFunc(r.buckets, func(o *bucket) bool { return o.name == b.name }) {
		d.fail(block.DefRange, "Duplicate bucket", fmt.Sprintf("%s already has a bucket %q. Give this one another name.", r.name, b.name))
	}
	limit, use := content.Attributes["limit"], content.Attributes["use"]
	if limit == nil && use == nil {
		d.fail(block.DefRange, "Empty bucket", "Say how a read of the object tells the bucket: limit = ..., use = ..., or both.")
	}
	if limit != nil {
		b.limit = d.expression(limit.Expr, d.pure, objectRoots()...)
	}
	if use != nil {
		b.use = d.expression(use.Expr, d.pure, objectRoots()...)
	}
	b.meta = d.meta(content.Attributes, d.ruleName(r, partBucket, b.name), classCapacity)
	r.buckets = append(r.buckets, b)
}

func (d *decoder) consumesBlock(r *resource, block *hcl.Block) {
	content := d.content(block.Body, &hcl.BodySchema{Attributes: append(metaAttributes(),
		hcl.AttributeSchema{Name: "of", Required: true}, hcl.AttributeSchema{Name: "bucket"},
		hcl.AttributeSchema{Name: "amount", Required: true})})
	attrs := content.Attributes
	c := &consumption{name: block.Labels[0], bucket: block.Labels[0], at: block.DefRange}
	if !identifier.MatchString(c.name) {
		d.fail(block.LabelRanges[0], "Invalid consumes name", "The label of a consumes block has letters, digits, - and _.")
	}
	if slices.ContainsFunc(r.consumes, func(o *consumption) bool { return o.name == c.name }) {
		d.fail(block.DefRange, "Duplicate consumes", fmt.Sprintf("%s already consumes %q. Give this block another name, and say bucket = %q in it.", r.name, c.name, c.name))
	}
	if attr := attrs["bucket"]; attr != nil {
		c.bucket = d.literal(attr)
	}
	c.of = d.owner(r, attrs["of"])
	if attr := attrs["amount"]; attr != nil {
		c.amount = d.expression(attr.Expr, d.pure, objectRoots()...)
	}
	c.meta = d.meta(attrs, d.ruleName(r, partConsumes, c.name), classCapacity)
	r.consumes = append(r.consumes, c)
}

const ownerHelp = `The owner of a bucket is parent, ancestor(n), ref("reference name"), self, or object("type", id).`

// owner reads which objects' bucket is consumed.
func (d *decoder) owner(r *resource, attr *hcl.Attribute) nodeRef {
	if attr == nil {
		return nodeRef{}
	}
	ref, diags := parseNodeRef(attr.Expr)
	if diags.HasErrors() {
		d.fail(attr.Expr.Range(), "Invalid owner", ownerHelp)
		return nodeRef{}
	}
	switch ref.form {
	case refObject:
		d.expression(ref.ids, d.pure, objectRoots()...)
	case refRealm:
		d.fail(attr.Expr.Range(), "Invalid owner", "A realm has no buckets, because no read tells them. "+ownerHelp)
	case refEdge:
		d.fail(attr.Expr.Range(), "Invalid owner", "What the graph knows today says nothing about before and after. "+ownerHelp)
	case refReference:
		d.checkReferenceName(r, attr, ref.name)
	}
	return ref
}

// checkBuckets finds consumers of buckets that nobody has.
func (d *decoder) checkBuckets(types []string) {
	for _, name := range types {
		r := d.pack.resources[name]
		for _, c := range r.consumes {
			kind := d.pack.ownerType(r, c.of)
			owner, ok := d.pack.resources[kind]
			if !ok {
				d.fail(c.at, "Unknown bucket owner", fmt.Sprintf("%s consumes %q of %q, for which the pack has no rule.%s",
					name, c.name, kind, suggestion(kind, types)))
				continue
			}
			var known []string
			for _, b := range owner.buckets {
				known = append(known, b.name)
			}
			if !slices.Contains(known, c.bucket) {
				d.fail(c.at, "Unknown bucket", fmt.Sprintf("%s consumes %q of %s, which has no bucket of that name.%s Add bucket %q to the rule of %s.",
					name, c.bucket, kind, suggestion(c.bucket, known), c.bucket, kind))
			}
		}
	}
}

// ownerType is the resource type of the owner of a bucket; parentRealm where
// that is the realm.
func (p *pack) ownerType(r *resource, of nodeRef) string {
	switch of.form {
	case refObject:
		return of.name
	case refReference:
		for _, ref := range r.references {
			if ref.name == of.name {
				return ref.target
			}
		}
		return ""
	case refAncestor:
		kind := r.name
		for range of.steps {
			up, ok := p.resources[kind]
			if !ok {
				return kind
			}
			kind = up.parent.kind
		}
		return kind
	default:
		return r.name
	}
}
