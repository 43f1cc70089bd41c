// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"maps"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// functions are what every expression of a pack may call: string and
// collection functions that depend on nothing but their arguments.
func functions() map[string]function.Function {
	return map[string]function.Function{
		"arm_id":           armIDFunction(),
		"arm_parent":       armParentFunction(),
		"arm_scope":        armScopeFunction(),
		"authority":        authorityFunction(),
		"can":              tryfunc.CanFunc,
		"coalesce":         stdlib.CoalesceFunc,
		"compact":          stdlib.CompactFunc,
		"concat":           stdlib.ConcatFunc,
		"contains":         stdlib.ContainsFunc,
		"distinct":         stdlib.DistinctFunc,
		"element":          stdlib.ElementFunc,
		"endswith":         affixFunction(strings.HasSuffix),
		"first_known":      firstKnownFunction(),
		"flatten":          stdlib.FlattenFunc,
		"format":           stdlib.FormatFunc,
		"join":             stdlib.JoinFunc,
		"keys":             stdlib.KeysFunc,
		"length":           stdlib.LengthFunc,
		"lookup":           stdlib.LookupFunc,
		"lower":            stdlib.LowerFunc,
		"merge":            stdlib.MergeFunc,
		"regex":            stdlib.RegexFunc,
		"regexall":         stdlib.RegexAllFunc,
		"replace":          stdlib.ReplaceFunc,
		"segment":          segmentFunction(),
		"setunion":         stdlib.SetUnionFunc,
		"sort":             stdlib.SortFunc,
		"split":            stdlib.SplitFunc,
		"startswith":       affixFunction(strings.HasPrefix),
		"substr":           stdlib.SubstrFunc,
		"tolist":           stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"tonumber":         stdlib.MakeToFunc(cty.Number),
		"toset":            stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tostring":         stdlib.MakeToFunc(cty.String),
		"trim":             stdlib.TrimFunc,
		"trimprefix":       stdlib.TrimPrefixFunc,
		"trimspace":        stdlib.TrimSpaceFunc,
		"trimsuffix":       stdlib.TrimSuffixFunc,
		"try":              tryfunc.TryFunc,
		"upper":            stdlib.UpperFunc,
		"usable_addresses": usableAddressesFunction(),
		"values":           stdlib.ValuesFunc,
	}
}

// environmentFunctions adds env, which only locals and realms may call: what
// an operation means must not depend on where it is evaluated, which account a
// provider works in does.
func environmentFunctions(base map[string]function.Function, env Environment) map[string]function.Function {
	all := maps.Clone(base)
	all["env"] = function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if value, ok := env(args[0].AsString()); ok && value != "" {
				return cty.StringVal(value), nil
			}
			return cty.NullVal(cty.String), nil
		},
	})
	return all
}

func affixFunction(has func(s, affix string) bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "string", Type: cty.String}, {Name: "affix", Type: cty.String}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(has(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

// firstKnownFunction returns the first string that is known, present and not
// sensitive; what comes after it is not evaluated. Unlike coalesce it passes
// over an unknown value, which is right only where all arguments spell the same
// thing. When none is known the last unknown one is the result, since it may
// carry a known prefix.
func firstKnownFunction() function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "values", Type: customdecode.ExpressionClosureType},
		Type:     function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			rest := cty.NullVal(cty.String)
			for _, arg := range args {
				v, err := closureText(arg)
				if err != nil {
					return cty.UnknownVal(cty.String), err
				}
				bare, _ := v.Unmark()
				switch {
				case bare.IsKnown() && bare.IsNull():
				case bare.IsKnown() && !v.IsMarked():
					return v, nil
				default:
					rest = v
				}
			}
			return rest, nil
		},
	})
}

// closureText evaluates an argument to a string.
func closureText(arg cty.Value) (cty.Value, error) {
	v, diags := customdecode.ExpressionClosureFromVal(arg).Value()
	if diags.HasErrors() {
		return cty.UnknownVal(cty.String), diags
	}
	return convert.Convert(v, cty.String)
}
