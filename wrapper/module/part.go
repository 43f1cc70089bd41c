// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// part is what the files of one module say.
type part struct {
	// required are the source addresses by local name.
	required map[string]string
	used     []use
	calls    []string
	backend  string
}

// use is a type of resources, and the local name of the provider.
type use struct{ name, provider string }

// What is looked at; everything else is left alone.
var (
	rootSchema = hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "terraform"}, {Type: "resource", LabelNames: []string{"type", "name"}}, {Type: "module", LabelNames: []string{"name"}},
	}}
	settingsSchema = hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "required_providers"}, {Type: "backend", LabelNames: []string{"type"}}, {Type: "cloud"},
	}}
	resourceSchema = hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "provider"}}}
)

func (p *part) read(body hcl.Body) {
	content, _, _ := body.PartialContent(&rootSchema) // mistakes are for the CLI to tell
	for _, block := range content.Blocks {
		switch block.Type {
		case "terraform":
			p.settings(block.Body)
		case "module":
			p.calls = append(p.calls, block.Labels[0])
		case "resource":
			p.used = append(p.used, use{name: block.Labels[0], provider: providerOf(block)})
		}
	}
}

func (p *part) settings(body hcl.Body) {
	content, _, _ := body.PartialContent(&settingsSchema)
	for _, block := range content.Blocks {
		switch block.Type {
		case "backend":
			p.backend = block.Labels[0]
		case "cloud":
			p.backend = "cloud"
		default:
			attributes, _ := block.Body.JustAttributes()
			for name, attribute := range attributes {
				p.required[name] = sourceOf(name, attribute)
			}
		}
	}
}

// sourceOf is the source address of one required provider. It was only a version
// constraint in early configurations.
func sourceOf(name string, attribute *hcl.Attribute) string {
	pairs, _ := hcl.ExprMap(attribute.Expr)
	for _, pair := range pairs {
		if hcl.ExprAsKeyword(pair.Key) != "source" && text(pair.Key) != "source" {
			continue
		}
		if source := text(pair.Value); source != "" {
			return source
		}
	}
	return byDefault(name)
}

func text(e hcl.Expression) string {
	v, diags := e.Value(nil)
	if diags.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		return ""
	}
	return v.AsString()
}

// providerOf is the local name of a resource's provider: what it says, else the
// first word of the type.
func providerOf(block *hcl.Block) string {
	content, _, _ := block.Body.PartialContent(&resourceSchema)
	if attribute := content.Attributes["provider"]; attribute != nil {
		if traversal, diags := hcl.AbsTraversalForExpr(attribute.Expr); !diags.HasErrors() {
			return traversal.RootName()
		}
		if name, _, _ := strings.Cut(text(attribute.Expr), "."); name != "" {
			return name
		}
	}
	name, _, _ := strings.Cut(block.Labels[0], "_")
	return name
}

// source is the source address of a provider's local name.
func (p *part) source(name string) string {
	if source, ok := p.required[name]; ok {
		return source
	}
	return byDefault(name)
}

// byDefault is what a name stands for that nothing declares. "terraform" is built
// into the CLI.
func byDefault(name string) string {
	if name == "terraform" {
		return Builtin
	}
	return "hashicorp/" + name
}

// Builtin is the source address of the provider that the CLI has in itself.
const Builtin = "terraform.io/builtin/terraform"
