// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
)

// values are the states of a change.
type values struct {
	ty            cty.Type
	before, after cty.Value
	sensitive     cty.PathSet
}

// values reads the states of a change. In a plan, unknown values are left out
// of the state and marked in a structure of the same shape beside it.
func (r *reader) values(ctx context.Context, change *resourceChange) (values, error) {
	v := values{ty: cty.DynamicPseudoType, sensitive: cty.NewPathSet()}
	if schema := r.schema(ctx, change); schema != nil {
		v.ty = schema.Type
		v.sensitive = v.sensitive.Union(orEmpty(schema.Sensitive))
	}
	c := change.Change
	var err error
	if v.before, err = r.state(c.Before, nil, v.ty); err != nil {
		return v, fmt.Errorf("before: %w", err)
	}
	if v.after, err = r.state(c.After, c.AfterUnknown, v.ty); err != nil {
		return v, fmt.Errorf("after: %w", err)
	}
	for _, text := range []json.RawMessage{c.BeforeSensitive, c.AfterSensitive} {
		marks, err := r.untyped.read(text)
		if err != nil {
			return v, err
		}
		addSensitive(v.sensitive, nil, marks)
	}
	return v, nil
}

// state makes a value of JSON texts.
func (r *reader) state(text, unknown json.RawMessage, ty cty.Type) (cty.Value, error) {
	raw, err := r.untyped.read(text)
	if err != nil {
		return cty.DynamicVal, err
	}
	marks, err := r.untyped.read(unknown)
	if err != nil {
		return cty.DynamicVal, err
	}
	return decode(raw, marks, ty)
}

func orEmpty(set cty.PathSet) cty.PathSet {
	if set.Empty() {
		return cty.NewPathSet()
	}
	return set
}

// addSensitive adds the paths that a plan marks sensitive with true. Elements
// are told apart by attribute only: one secret element hides its sisters.
func addSensitive(set cty.PathSet, path cty.Path, marks any) {
	path = path[:len(path):len(path)]
	switch m := marks.(type) {
	case bool:
		if m && len(path) > 0 {
			set.Add(path)
		}
	case []any:
		for _, element := range m {
			addSensitive(set, append(path, cty.IndexStep{Key: cty.DynamicVal}), element)
		}
	case map[string]any:
		for name, element := range m {
			addSensitive(set, append(path, cty.GetAttrStep{Name: name}), element)
		}
	}
}

// errShape says that a value is not of the type that the schema gives it.
var errShape = errors.New("a value does not fit the provider's schema")

// decode makes a value of JSON that was read with json.Number. unknown is true
// where the value is not known, or a structure of such marks.
func decode(raw, unknown any, ty cty.Type) (cty.Value, error) {
	if is, _ := unknown.(bool); is {
		return cty.UnknownVal(ty), nil
	}
	if ty == cty.DynamicPseudoType {
		return implied(raw, unknown)
	}
	if raw == nil && !hasMarks(unknown) {
		return cty.NullVal(ty), nil
	}
	switch {
	case ty.IsPrimitiveType():
		return primitive(raw, ty)
	case ty.IsObjectType():
		return object(raw, unknown, ty)
	case ty.IsMapType():
		return mapping(raw, unknown, ty)
	case ty.IsTupleType(), ty.IsListType(), ty.IsSetType():
		return sequence(raw, unknown, ty)
	default:
		return cty.DynamicVal, errShape
	}
}

// hasMarks says whether anything is marked in a structure of marks.
func hasMarks(marks any) bool {
	switch m := marks.(type) {
	case bool:
		return m
	case []any:
		for _, element := range m {
			if hasMarks(element) {
				return true
			}
		}
	case map[string]any:
		for _, element := range m {
			if hasMarks(element) {
				return true
			}
		}
	}
	return false
}

func primitive(raw any, ty cty.Type) (cty.Value, error) {
	switch v := raw.(type) {
	case string:
		if ty == cty.String {
			return cty.StringVal(v), nil
		}
	case bool:
		if ty == cty.Bool {
			return cty.BoolVal(v), nil
		}
	case json.Number:
		if ty == cty.Number {
			return number(v)
		}
	}
	return cty.DynamicVal, errShape
}

func number(n json.Number) (cty.Value, error) {
	v, err := cty.ParseNumberVal(n.String())
	if err != nil {
		return cty.DynamicVal, errShape
	}
	return v, nil
}

func object(raw, unknown any, ty cty.Type) (cty.Value, error) {
	attrs, ok := raw.(map[string]any)
	if !ok && raw != nil {
		return cty.DynamicVal, errShape
	}
	marks, _ := unknown.(map[string]any)
	out := map[string]cty.Value{}
	for name, attrType := range ty.AttributeTypes() {
		v, err := decode(attrs[name], marks[name], attrType)
		if err != nil {
			return v, err
		}
		out[name] = v
	}
	return cty.ObjectVal(out), nil
}

func mapping(raw, unknown any, ty cty.Type) (cty.Value, error) {
	elements, ok := raw.(map[string]any)
	if !ok && raw != nil {
		return cty.DynamicVal, errShape
	}
	marks, _ := unknown.(map[string]any)
	out := map[string]cty.Value{}
	for _, key := range keysOf(elements, marks) {
		v, err := decode(elements[key], marks[key], ty.ElementType())
		if err != nil {
			return v, err
		}
		out[key] = v
	}
	switch {
	case len(out) == 0:
		return cty.MapValEmpty(ty.ElementType()), nil
	case ty.ElementType().HasDynamicTypes():
		return cty.ObjectVal(out), nil // elements may be of several types
	default:
		return cty.MapVal(out), nil
	}
}

// keysOf are the keys of either map; an unknown element is only in the second.
func keysOf(elements, marks map[string]any) []string {
	var keys []string
	for key := range elements {
		keys = append(keys, key)
	}
	for key := range marks {
		if _, both := elements[key]; !both {
			keys = append(keys, key)
		}
	}
	return keys
}

func sequence(raw, unknown any, ty cty.Type) (cty.Value, error) {
	elements, ok := raw.([]any)
	if !ok && raw != nil {
		return cty.DynamicVal, errShape
	}
	marks, _ := unknown.([]any)
	var out []cty.Value
	for i := range max(len(elements), len(marks)) {
		elementType, ok := typeOfElement(ty, i)
		if !ok {
			return cty.DynamicVal, errShape
		}
		v, err := decode(at(elements, i), at(marks, i), elementType)
		if err != nil {
			return v, err
		}
		out = append(out, v)
	}
	return collect(out, ty), nil
}

func typeOfElement(ty cty.Type, i int) (cty.Type, bool) {
	if !ty.IsTupleType() {
		return ty.ElementType(), true
	}
	if i >= ty.Length() {
		return cty.DynamicPseudoType, false
	}
	return ty.TupleElementType(i), true
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func collect(out []cty.Value, ty cty.Type) cty.Value {
	switch {
	case ty.IsTupleType() || len(out) > 0 && ty.ElementType().HasDynamicTypes():
		return cty.TupleVal(out)
	case ty.IsSetType() && len(out) == 0:
		return cty.SetValEmpty(ty.ElementType())
	case ty.IsSetType():
		return cty.SetVal(out)
	case len(out) == 0:
		return cty.ListValEmpty(ty.ElementType())
	default:
		return cty.ListVal(out)
	}
}

// implied makes a value of the type that JSON suggests: objects and tuples.
func implied(raw, unknown any) (cty.Value, error) {
	switch v := raw.(type) {
	case nil:
		if m, ok := unknown.(map[string]any); ok && len(m) > 0 {
			return impliedObject(nil, m)
		}
		return cty.NullVal(cty.DynamicPseudoType), nil
	case string:
		return cty.StringVal(v), nil
	case bool:
		return cty.BoolVal(v), nil
	case json.Number:
		return number(v)
	case []any:
		return impliedTuple(v, unknown)
	case map[string]any:
		marks, _ := unknown.(map[string]any)
		return impliedObject(v, marks)
	default:
		return cty.DynamicVal, errShape
	}
}

func impliedTuple(elements []any, unknown any) (cty.Value, error) {
	marks, _ := unknown.([]any)
	var out []cty.Value
	for i := range max(len(elements), len(marks)) {
		v, err := decode(at(elements, i), at(marks, i), cty.DynamicPseudoType)
		if err != nil {
			return v, err
		}
		out = append(out, v)
	}
	return cty.TupleVal(out), nil
}

func impliedObject(elements, marks map[string]any) (cty.Value, error) {
	out := map[string]cty.Value{}
	for _, key := range keysOf(elements, marks) {
		v, err := decode(elements[key], marks[key], cty.DynamicPseudoType)
		if err != nil {
			return v, err
		}
		out[key] = v
	}
	return cty.ObjectVal(out), nil
}
