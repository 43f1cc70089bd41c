// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"time"

	"github.com/hashicorp/hcl/v2"
)

// maxTime bounds lands and timeout: nothing is tried for longer than a week.
const maxTime = 7 * 24 * time.Hour

// reading decodes how objects of the type are read back.
func (d *decoder) reading(r *resource, content *hcl.BodyContent) {
	attrs := content.Attributes
	if attr := attrs["import_id"]; attr != nil {
		r.importID = d.expression(attr.Expr, d.pure, rootID, rootProvider, rootLocal, rootRealm, rootTable)
	}
	r.volatile = d.texts(attrs["volatile"])
	r.terminal = d.terminal(attrs["terminal"])
	r.times = d.times(attrs)
	r.refusals = d.errorBlocks(content.Blocks)
}

func (d *decoder) terminal(attr *hcl.Attribute) hcl.Expression {
	if attr == nil {
		return nil
	}
	return d.expression(attr.Expr, d.pure, objectRoots()...)
}

func (d *decoder) times(attrs hcl.Attributes) times {
	return times{lands: d.duration(attrs["lands"]), timeout: d.duration(attrs["timeout"])}
}

// duration reads a duration in nanoseconds; 0 for an absent attribute.
func (d *decoder) duration(attr *hcl.Attribute) int64 {
	if attr == nil {
		return 0
	}
	text, ok := literalString(attr.Expr)
	n, err := time.ParseDuration(text)
	if !ok || err != nil || n <= 0 || n > maxTime {
		d.fail(attr.Expr.Range(), "Invalid "+attr.Name, attr.Name+` is a duration above 0 and at most a week, such as "90s" or "30m".`)
		return 0
	}
	return int64(n)
}
