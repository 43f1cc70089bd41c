// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import "github.com/zclconf/go-cty/cty"

// Schema is what the proxy keeps of one schema block: the type its values
// have on the wire, and which attributes are secret.
type Schema struct {
	// Type is the object type implied by the block.
	Type cty.Type
	// Sensitive holds the paths marked sensitive by the provider. A step into
	// an element of a list, set or map has the key AnyKey; use IsSensitive to
	// look up the path of a real value.
	Sensitive cty.PathSet
	// WriteOnly holds the paths that never reach the state, in the same form.
	WriteOnly cty.PathSet
	// Version is the schema version of the resource type.
	Version int64
}

// AnyKey is the index key that stands for every element in the paths of a
// Schema.
func AnyKey() cty.Value { return cty.DynamicVal }

// IsSensitive reports whether the value at path, or a value that holds it, is
// marked sensitive.
func (s *Schema) IsSensitive(path cty.Path) bool { return covers(s.Sensitive, path) }

// IsWriteOnly reports whether the value at path, or a value that holds it,
// never reaches the state.
func (s *Schema) IsWriteOnly(path cty.Path) bool { return covers(s.WriteOnly, path) }

func covers(set cty.PathSet, path cty.Path) bool {
	for _, marked := range set.List() {
		if hasPattern(path, marked) {
			return true
		}
	}
	return false
}

// hasPattern reports whether path begins with pattern. Only attribute names
// are compared: a schema says the same of every element.
func hasPattern(path, pattern cty.Path) bool {
	if len(path) < len(pattern) {
		return false
	}
	for i, step := range pattern {
		want, isAttr := step.(cty.GetAttrStep)
		have, isToo := path[i].(cty.GetAttrStep)
		if isAttr != isToo || want.Name != have.Name {
			return false
		}
	}
	return true
}
