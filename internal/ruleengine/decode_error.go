// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// errorBlocks decodes what errors of the provider mean.
func (d *decoder) errorBlocks(blocks hcl.Blocks) []*refusal {
	var list []*refusal
	for _, block := range blocks.OfType("error") {
		r := d.errorBlock(block)
		if slices.ContainsFunc(list, func(o *refusal) bool { return o.name == r.name }) {
			d.fail(block.DefRange, "Duplicate error", fmt.Sprintf("There is an error block %q already. Give this one another name.", r.name))
		}
		list = append(list, r)
	}
	return list
}

func (d *decoder) errorBlock(block *hcl.Block) *refusal {
	content := d.content(block.Body, &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "codes"}, {Name: "match"}, {Name: "regex"}, {Name: "class"}, {Name: "definite", Required: true}, {Name: "why"}, {Name: "source"},
	}})
	attrs := content.Attributes
	r := &refusal{name: block.Labels[0]}
	if !identifier.MatchString(r.name) {
		d.fail(block.LabelRanges[0], "Invalid error name", "The label of an error block has letters, digits, - and _.")
	}
	r.codes, r.match, r.regex = d.texts(attrs["codes"]), d.texts(attrs["match"]), d.regexes(attrs["regex"])
	switch {
	case attrs["codes"] == nil && attrs["match"] == nil && attrs["regex"] == nil:
		d.fail(block.DefRange, "Empty error", "Say how the provider's error is known: codes = [\"Code\"], match = [\"text\"] or regex = [\"pattern\"].")
	case attrs["codes"] != nil && d.pack.errorCode == nil && d.pack.name != "":
		d.fail(attrs["codes"].NameRange, "No error_code", "Say in the pack block where an error has its code: error_code = \"... (?P<code>...) ...\".")
	}
	if attr := attrs["definite"]; attr != nil {
		r.definite = d.flag(attr)
	}
	r.meta = d.meta(attrs, "", "")
	return r
}

// errorCode reads where an error has its code; nil for an absent attribute.
func (d *decoder) errorCode(attr *hcl.Attribute) *regexp.Regexp {
	if attr == nil {
		return nil
	}
	re := d.regex(attr.Expr, d.literal(attr))
	if re != nil && re.SubexpIndex(codeGroup) < 0 {
		d.fail(attr.Expr.Range(), "Invalid error_code", "error_code is a regular expression with a group for the code: (?P<code>...).")
	}
	return re
}

func (d *decoder) regexes(attr *hcl.Attribute) []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, text := range d.texts(attr) {
		if re := d.regex(attr.Expr, text); re != nil {
			list = append(list, re)
		}
	}
	return list
}

// regex compiles a pattern that must not match everything.
func (d *decoder) regex(x hcl.Expression, text string) *regexp.Regexp {
	re, err := regexp.Compile(text)
	switch {
	case err != nil:
		d.fail(x.Range(), "Invalid regular expression", fmt.Sprintf("%q is none in the syntax of RE2: %v.", text, err))
	case re.MatchString(""):
		d.fail(x.Range(), "Invalid regular expression", fmt.Sprintf("%q matches every error.", text))
	}
	return re
}

// texts reads a list of texts that are not empty.
func (d *decoder) texts(attr *hcl.Attribute) []string {
	if attr == nil {
		return nil
	}
	items, diags := hcl.ExprList(attr.Expr)
	d.diags = append(d.diags, diags...)
	if len(items) == 0 && !diags.HasErrors() {
		d.fail(attr.Expr.Range(), "Empty list", attr.Name+" has at least one text. Leave the attribute out for none.")
	}
	var list []string
	for _, item := range items {
		text, ok := literalString(item)
		if !ok || text == "" {
			d.fail(item.Range(), "Not a plain string", attr.Name+" is a list of quoted strings without interpolation, none of them empty.")
			continue
		}
		list = append(list, text)
	}
	return list
}
