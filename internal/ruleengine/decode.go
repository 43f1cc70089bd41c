// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty/function"
)

// decoder compiles the files of one pack and collects what is wrong with them.
type decoder struct {
	pack  *pack
	diags hcl.Diagnostics
	// pure and ambient are the functions that expressions may call.
	pure, ambient map[string]function.Function
}

var identifier = regexp.MustCompile(`^[a-zA-Z][-a-zA-Z0-9_]*$`)

// decodePack compiles the files of one pack; first is the name of one of them.
func decodePack(bodies []*hcl.File, first string) (*pack, hcl.Diagnostics) {
	pure := functions()
	d := &decoder{
		pack: &pack{resources: map[string]*resource{}},
		pure: pure,
		ambient: environmentFunctions(pure, func(string) (string, bool) {
			return "", false
		}),
	}
	var blocks hcl.Blocks
	for _, file := range bodies {
		content := d.content(file.Body, &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
			{Type: "pack", LabelNames: []string{"name"}},
			{Type: "table", LabelNames: []string{"name"}},
			{Type: "error", LabelNames: []string{"name"}},
			{Type: "resource", LabelNames: []string{"type"}},
		}})
		blocks = append(blocks, content.Blocks...)
	}
	// Expressions are tried out as they are read, so what they use comes first.
	d.tables(blocks.OfType("table"))
	for _, block := range blocks.OfType("pack") {
		d.packBlock(block)
	}
	if d.pack.name == "" && !d.diags.HasErrors() {
		d.fail(hcl.Range{Filename: first, Start: hcl.InitialPos, End: hcl.InitialPos}, "Missing pack block",
			"None of the pack's files has a pack block. Add one that says for which provider the rules are: pack \"name\" { version = ..., provider = ... }.")
	}
	d.pack.refusals = d.errorBlocks(blocks)
	for _, block := range blocks.OfType("resource") {
		d.resourceBlock(block)
	}
	if !d.diags.HasErrors() {
		d.checkTypes()
	}
	return d.pack, d.diags
}

func (d *decoder) fail(at hcl.Range, summary, detail string) {
	d.diags = append(d.diags, problem(at, summary, detail))
}

// content reads a block's body by a schema.
func (d *decoder) content(body hcl.Body, schema *hcl.BodySchema) *hcl.BodyContent {
	content, diags := body.Content(schema)
	d.diags = append(d.diags, diags...)
	return content
}

// single returns the only block of a type, nil when there is none.
func (d *decoder) single(blocks hcl.Blocks, kind string) *hcl.Block {
	found := blocks.OfType(kind)
	if len(found) == 0 {
		return nil
	}
	for _, again := range found[1:] {
		d.fail(again.DefRange, "Duplicate "+kind+" block",
			fmt.Sprintf("There is already one at %s. Keep one of them.", found[0].DefRange))
	}
	return found[0]
}

func (d *decoder) packBlock(block *hcl.Block) {
	p := d.pack
	if p.name != "" {
		d.fail(block.DefRange, "Duplicate pack block", fmt.Sprintf("The pack is already described at %s. A pack has one pack block.", p.subject))
		return
	}
	p.name, p.subject = block.Labels[0], block.DefRange
	if !identifier.MatchString(p.name) {
		d.fail(block.LabelRanges[0], "Invalid pack name", "A pack's name begins with a letter and has only letters, digits, - and _.")
	}
	content := d.content(block.Body, &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{
			{Name: "version", Required: true},
			{Name: "provider", Required: true},
			{Name: "provider_versions"},
			{Name: "canonical"},
			{Name: "terminal"},
			{Name: "lands"},
			{Name: "timeout"},
			{Name: "error_code"},
		},
		Blocks: []hcl.BlockHeaderSchema{{Type: "locals"}, {Type: "realm"}},
	})
	d.packAttributes(content.Attributes)
	if locals := d.single(content.Blocks, "locals"); locals != nil {
		d.localsBlock(locals)
	}
	if realm := d.single(content.Blocks, "realm"); realm != nil {
		d.realmBlock(realm)
	} else {
		d.fail(block.DefRange, "Missing realm block", "A pack says which account a configured provider works in. Add realm { namespace = ..., id = ... }.")
	}
	p.terminal = d.terminal(content.Attributes["terminal"])
	p.times = d.times(content.Attributes)
	p.errorCode = d.errorCode(content.Attributes["error_code"])
}

func (d *decoder) packAttributes(attrs hcl.Attributes) {
	p := d.pack
	p.version = d.literal(attrs["version"])
	if attr := attrs["version"]; attr != nil && p.version != "" {
		if _, err := version.NewSemver(p.version); err != nil {
			d.fail(attr.Expr.Range(), "Invalid pack version", fmt.Sprintf("%q is no semantic version such as 1.2.0.", p.version))
		}
	}
	if attr := attrs["provider"]; attr != nil {
		pattern, err := parseSourcePattern(d.literal(attr))
		if err != nil {
			d.fail(attr.Expr.Range(), "Invalid provider pattern",
				fmt.Sprintf("The pattern %v. Write host/namespace/type; * stands for any one part, as in \"*/hashicorp/azurerm\".", err))
		}
		p.provider = pattern
	}
	if attr := attrs["provider_versions"]; attr != nil {
		p.providerVersions = d.literal(attr)
		if _, err := version.NewConstraint(p.providerVersions); err != nil {
			d.fail(attr.Expr.Range(), "Invalid version constraint",
				fmt.Sprintf("%q is no version constraint such as \">= 1.0.0, < 2.0.0\".", p.providerVersions))
		}
	}
	if attr := attrs["canonical"]; attr != nil {
		p.canonical = d.expression(attr.Expr, d.pure, rootID)
	}
}

func (d *decoder) localsBlock(block *hcl.Block) {
	attrs, diags := block.Body.JustAttributes()
	d.diags = append(d.diags, diags...)
	for _, name := range sortedKeys(attrs) {
		x := d.expression(attrs[name].Expr, d.ambient, rootProvider, rootTable)
		d.pack.locals = append(d.pack.locals, local{name: name, value: x})
	}
}

func (d *decoder) realmBlock(block *hcl.Block) {
	content := d.content(block.Body, &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "namespace", Required: true}, {Name: "id", Required: true}, {Name: "type"}, {Name: "remedy"},
	}})
	r := &d.pack.realm
	r.kind = d.literal(content.Attributes["type"])
	r.remedy = d.literal(content.Attributes["remedy"])
	if attr := content.Attributes["namespace"]; attr != nil {
		r.namespace = d.expression(attr.Expr, d.ambient, rootProvider, rootLocal, rootTable)
	}
	if attr := content.Attributes["id"]; attr != nil {
		r.id = d.expression(attr.Expr, d.ambient, rootProvider, rootLocal, rootTable)
	}
}

// literal is the value of an attribute that must be a plain string; empty for
// an absent attribute.
func (d *decoder) literal(attr *hcl.Attribute) string {
	if attr == nil {
		return ""
	}
	s, ok := literalString(attr.Expr)
	if !ok {
		d.fail(attr.Expr.Range(), "Not a plain string", fmt.Sprintf("%s is a quoted string without interpolation.", attr.Name))
	}
	return s
}

// oneOf is a plain string that must be one of a list; fallback for an absent
// attribute.
func (d *decoder) oneOf(attr *hcl.Attribute, fallback string, allowed []string) string {
	if attr == nil {
		return fallback
	}
	s, ok := literalString(attr.Expr)
	if !ok || !slices.Contains(allowed, s) {
		d.fail(attr.Expr.Range(), "Invalid "+attr.Name, fmt.Sprintf("%s is one of %s.%s", attr.Name, quotedList(allowed), suggestion(s, allowed)))
		return fallback
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
