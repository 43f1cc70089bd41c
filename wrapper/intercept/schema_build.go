// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// schemaBuilder collects what a Schema keeps while it walks a schema message.
type schemaBuilder struct {
	sensitive, writeOnly cty.PathSet
}

// buildSchema translates a Schema message. The types are those that the CLI
// derives from the same message, because they decide how values are encoded.
func buildSchema(m message) (*Schema, error) {
	b := schemaBuilder{sensitive: cty.NewPathSet(), writeOnly: cty.NewPathSet()}
	schema := &Schema{Type: cty.EmptyObject, Version: m.integer("version")}
	if block, set := m.sub("block"); set {
		ty, err := b.block(block, nil)
		if err != nil {
			return nil, fmt.Errorf("%w: schema: %w", errNotUnderstood, err)
		}
		schema.Type = ty
	}
	schema.Sensitive, schema.WriteOnly = b.sensitive, b.writeOnly
	return schema, nil
}

// block returns the object type of a block at path.
func (b schemaBuilder) block(block message, path cty.Path) (cty.Type, error) {
	attrs, err := b.attributes(block, path)
	if err != nil {
		return cty.NilType, err
	}
	for _, nested := range block.list("block_types") {
		name := nested.text("type_name")
		ty, err := b.nestedBlock(nested, path.GetAttr(name))
		if err != nil {
			return cty.NilType, fmt.Errorf("%s: %w", name, err)
		}
		attrs[name] = ty
	}
	return cty.Object(attrs), nil
}

// nestedBlock returns the type of a nested block. A list or map of blocks
// whose element type is not fixed is itself of no fixed type, since its
// elements may differ.
func (b schemaBuilder) nestedBlock(nested message, path cty.Path) (cty.Type, error) {
	content, set := nested.sub("block")
	mode := nested.enum("nesting")
	if !set || mode == "" {
		return cty.NilType, fmt.Errorf("nested block without content or nesting mode")
	}
	ty, err := b.block(content, elementPath(mode, path))
	if err != nil {
		return cty.NilType, err
	}
	if ty.HasDynamicTypes() && (mode == "LIST" || mode == "MAP") {
		return cty.DynamicPseudoType, nil
	}
	return collection(mode, ty)
}

// attributes returns the types of the attributes of a block or object.
func (b schemaBuilder) attributes(holder message, path cty.Path) (map[string]cty.Type, error) {
	types := map[string]cty.Type{}
	for _, attr := range holder.list("attributes") {
		name := attr.text("name")
		ty, err := b.attribute(attr, path.GetAttr(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		types[name] = ty
	}
	return types, nil
}

func (b schemaBuilder) attribute(attr message, path cty.Path) (cty.Type, error) {
	if attr.flag("sensitive") {
		b.sensitive.Add(path)
	}
	if attr.flag("write_only") {
		b.writeOnly.Add(path)
	}
	if nested, set := attr.sub("nested_type"); set {
		mode := nested.enum("nesting")
		attrs, err := b.attributes(nested, elementPath(mode, path))
		if err != nil {
			return cty.NilType, err
		}
		return collection(mode, cty.Object(attrs))
	}
	ty, err := ctyjson.UnmarshalType(attr.bytes("type"))
	if err != nil {
		return cty.NilType, err
	}
	return ty.WithoutOptionalAttributesDeep(), nil
}

// collection returns the type of a nesting mode over an object type.
func collection(mode string, ty cty.Type) (cty.Type, error) {
	switch mode {
	case "SINGLE", "GROUP":
		return ty, nil
	case "LIST":
		return cty.List(ty), nil
	case "SET":
		return cty.Set(ty), nil
	case "MAP":
		return cty.Map(ty), nil
	default:
		return cty.NilType, fmt.Errorf("unknown nesting mode %q", mode)
	}
}

// elementPath returns the path of the objects inside a nested block or
// attribute.
func elementPath(mode string, path cty.Path) cty.Path {
	if mode == "SINGLE" || mode == "GROUP" {
		return path
	}
	return path.Index(AnyKey())
}
