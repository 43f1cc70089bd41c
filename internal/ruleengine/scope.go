// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// scope is what expressions see. It is a value: with returns another one.
type scope struct {
	rule  string // for errors
	vars  map[string]cty.Value
	funcs map[string]function.Function
}

// with returns the scope with one variable set.
func (s scope) with(name string, v cty.Value) scope {
	s.vars = maps.Clone(s.vars)
	if s.vars == nil {
		s.vars = map[string]cty.Value{}
	}
	s.vars[name] = v
	return s
}

// value evaluates an expression. The result may be unknown, null or marked.
func (s scope) value(x hcl.Expression) (cty.Value, error) {
	ctx := &hcl.EvalContext{Variables: s.vars, Functions: s.funcs}
	v, diags := x.Value(ctx)
	if diags.HasErrors() {
		return cty.DynamicVal, s.failure(x, ctx, diags)
	}
	return v, nil
}

// failure turns diagnostics into an error. They quote values, so their text is
// withheld when the expression refers to a sensitive one.
func (s scope) failure(x hcl.Expression, ctx *hcl.EvalContext, diags hcl.Diagnostics) error {
	for _, t := range x.Variables() {
		if v, _ := t.TraverseAbs(ctx); v == cty.NilVal || v.ContainsMarked() {
			return &EvalError{Rule: s.rule, At: x.Range(), Detail: "the expression fails; the details are withheld because sensitive values take part"}
		}
	}
	var details []string
	for _, d := range diags.Errs() {
		details = append(details, d.Error())
	}
	return &EvalError{Rule: s.rule, At: x.Range(), Detail: strings.Join(details, "; ")}
}

// text evaluates an expression to a string. The error is ErrUnknown,
// ErrSensitive or ErrNull where that is what the value is.
func (s scope) text(x hcl.Expression) (string, error) {
	v, err := s.value(x)
	if err != nil {
		return "", err
	}
	return s.textOf(x, v)
}

func (s scope) textOf(x hcl.Expression, v cty.Value) (string, error) {
	v, err := usable(v)
	if err != nil {
		return "", err
	}
	str, err := convert.Convert(v, cty.String)
	if err != nil {
		return "", &EvalError{Rule: s.rule, At: x.Range(), Detail: fmt.Sprintf("a string is needed: %v", err)}
	}
	return str.AsString(), nil
}

// usable returns a value that is known, present and not sensitive.
func usable(v cty.Value) (cty.Value, error) {
	switch {
	case v == cty.NilVal:
		return v, ErrNull
	case v.ContainsMarked():
		return v, ErrSensitive
	case !v.IsKnown():
		return v, ErrUnknown
	case v.IsNull():
		return v, ErrNull
	default:
		return v, nil
	}
}

// holds evaluates a condition; nil is true. A condition whose value cannot be
// told is true, since a lock too many is safe, and says so by the error.
func (s scope) holds(x hcl.Expression) (bool, error) {
	if x == nil {
		return true, nil
	}
	v, err := s.value(x)
	if err != nil {
		return false, err
	}
	if v, err = usable(v); err != nil {
		return true, err
	}
	b, err := convert.Convert(v, cty.Bool)
	if err != nil {
		return false, &EvalError{Rule: s.rule, At: x.Range(), Detail: fmt.Sprintf("a condition is true or false: %v", err)}
	}
	return b.True(), nil
}

// sensitive is the mark of values that must not leave the process.
type sensitive struct{}

// mark marks the sensitive parts of a value.
func mark(v cty.Value, paths cty.PathSet) cty.Value {
	if v == cty.NilVal {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	v, _ = v.UnmarkDeep()
	patterns := pathPatterns(paths)
	if len(patterns) == 0 {
		return v
	}
	marked, err := cty.Transform(v, func(path cty.Path, part cty.Value) (cty.Value, error) {
		if patterns.match(path) {
			return part.Mark(sensitive{}), nil
		}
		return part, nil
	})
	if err != nil {
		// A value that cannot be walked is kept secret as a whole.
		return v.Mark(sensitive{})
	}
	return marked
}

// patterns are paths in which an index step stands for every element.
type patterns []cty.Path

func pathPatterns(set cty.PathSet) patterns { return set.List() }

func (ps patterns) match(path cty.Path) bool {
	for _, p := range ps {
		if samePattern(p, path) {
			return true
		}
	}
	return false
}

func samePattern(pattern, path cty.Path) bool {
	if len(pattern) != len(path) {
		return false
	}
	for i, step := range pattern {
		if !sameStep(step, path[i]) {
			return false
		}
	}
	return true
}

// sameStep compares steps. The name of an attribute may also be the key of a
// map: the paths of a plan in JSON do not tell them apart.
func sameStep(pattern, step cty.PathStep) bool {
	want, named := pattern.(cty.GetAttrStep)
	switch have := step.(type) {
	case cty.GetAttrStep:
		return named && want.Name == have.Name
	case cty.IndexStep:
		return !named || isKey(have.Key, want.Name)
	default:
		return false
	}
}

func isKey(key cty.Value, name string) bool {
	return key.Type() == cty.String && key.IsKnown() && !key.IsNull() && key.AsString() == name
}
