// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// The functions of this file read and write hierarchical ids in the manner of
// Azure Resource Manager: pairs of a segment and a name, with the provider
// namespace before the first typed pair:
//
//	/subscriptions/S/resourceGroups/G/providers/Microsoft.Network/virtualNetworks/V/subnets/N
//
// An id of which only the first part is known is an unknown string with a known
// prefix. What contains the object can then still be told, as far as the
// prefix reaches.

// armIDFunction builds an id:
//
//	arm_id(subscription)
//	arm_id(subscription, group)
//	arm_id(subscription, group, "Namespace/type", name)
//	arm_id(subscription, group, "Namespace/type", name, "childType", childName, ...)
func armIDFunction() function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "parts", Type: cty.String, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true},
		Type:     function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if len(args) == 0 || len(args) > 2 && len(args)%2 != 0 {
				return cty.UnknownVal(cty.String), errors.New("arm_id takes a subscription, a group, and then pairs of a type and a name")
			}
			return armID(args)
		},
	})
}

func armID(args []cty.Value) (cty.Value, error) {
	var b strings.Builder
	for i, v := range args {
		if i%2 == 1 || i == 0 {
			b.WriteString(armLabel(i))
		}
		if v.IsMarked() || !v.IsKnown() {
			// A sensitive part is as good as unknown: what comes before it is
			// neither.
			return prefixed(b.String()), nil
		}
		part, typed := v.AsString(), i >= 2 && i%2 == 0
		if err := checkARMPart(part, typed); err != nil {
			return cty.UnknownVal(cty.String), function.NewArgError(i, err)
		}
		if i == 2 {
			b.WriteString("/providers")
		}
		if typed {
			b.WriteString("/" + part + "/")
		} else {
			b.WriteString(part)
		}
	}
	return cty.StringVal(b.String()), nil
}

// armLabel is the fixed text before the name at a position.
func armLabel(i int) string {
	switch i {
	case 0:
		return "/subscriptions/"
	case 1:
		return "/resourceGroups/"
	default:
		return ""
	}
}

func checkARMPart(part string, typed bool) error {
	switch {
	case part == "":
		return errors.New("a part of an id is empty")
	case !typed && strings.Contains(part, "/"):
		return fmt.Errorf("the name %q has a slash in it", part)
	default:
		return nil
	}
}

// prefixed is an unknown string that is known to begin with prefix.
func prefixed(prefix string) cty.Value {
	return cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull(prefix).NewValue()
}

// armScopeFunction returns the id up to and including the name after a
// segment: the containing object of that type. For an id that is not wholly
// known the answer is known as far as the prefix reaches; else it is unknown
// with that prefix.
func armScopeFunction() function.Function {
	return armFunction("segment", func(id armText, args []cty.Value) (cty.Value, error) {
		name := args[0].AsString()
		at, ok := id.find(name)
		switch {
		case ok:
			return cty.StringVal(id.upTo(at + 1)), nil
		case id.partial:
			return prefixed(id.text), nil
		default:
			return cty.UnknownVal(cty.String), fmt.Errorf("the id has no segment %q: %q", name, clip(id.text))
		}
	})
}

// segmentFunction returns the name after a segment of an id.
func segmentFunction() function.Function {
	return armFunction("segment", func(id armText, args []cty.Value) (cty.Value, error) {
		name := args[0].AsString()
		at, ok := id.find(name)
		switch {
		case ok:
			return cty.StringVal(id.parts[at+1]), nil
		case id.partial:
			return cty.UnknownVal(cty.String), nil
		default:
			return cty.UnknownVal(cty.String), fmt.Errorf("the id has no segment %q: %q", name, clip(id.text))
		}
	})
}

// armParentFunction returns the id one type and name further up; for a type
// directly in a group, the group.
func armParentFunction() function.Function {
	return armFunction("", func(id armText, _ []cty.Value) (cty.Value, error) {
		if id.partial {
			return prefixed(id.text), nil
		}
		n := len(id.parts) - 2
		if n >= 2 && strings.EqualFold(id.parts[n-2], "providers") {
			n -= 2
		}
		if n < 2 {
			return cty.UnknownVal(cty.String), fmt.Errorf("nothing contains the id %q", clip(id.text))
		}
		return cty.StringVal(id.upTo(n - 1)), nil
	})
}

// armFunction is a function over an id, which may be partly known, and at most
// one more string.
func armFunction(second string, do func(armText, []cty.Value) (cty.Value, error)) function.Function {
	params := []function.Parameter{{Name: "id", Type: cty.String, AllowUnknown: true, AllowDynamicType: true}}
	if second != "" {
		params = append(params, function.Parameter{Name: second, Type: cty.String})
	}
	return function.New(&function.Spec{
		Params: params,
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			id, err := readARMText(args[0])
			if err != nil {
				return cty.UnknownVal(cty.String), function.NewArgError(0, err)
			}
			return do(id, args[1:])
		},
	})
}

// armText is an id, or the known first part of one.
type armText struct {
	text    string
	parts   []string // complete segments only
	partial bool
}

func readARMText(v cty.Value) (armText, error) {
	if v.IsKnown() {
		text := v.AsString()
		if !strings.HasPrefix(text, "/") || len(text) > maxIDLength {
			return armText{}, fmt.Errorf("not a resource id: %q", clip(text))
		}
		return armText{text: text, parts: strings.Split(text[1:], "/")}, nil
	}
	if v.Type() != cty.String {
		return armText{partial: true}, nil
	}
	text := v.Range().StringPrefix()
	// What follows the last slash may go on in the part that is not known.
	whole := text[:strings.LastIndex(text, "/")+1]
	if whole == "" {
		return armText{partial: true}, nil
	}
	return armText{text: whole, parts: strings.Split(strings.Trim(whole, "/"), "/"), partial: true}, nil
}

// find returns the position of a segment that has its name after it. Segments
// stand at even positions, whatever the names are called.
func (id armText) find(segment string) (int, bool) {
	for i := 0; i+1 < len(id.parts); i += 2 {
		if strings.EqualFold(id.parts[i], segment) && id.parts[i+1] != "" {
			return i, true
		}
	}
	return 0, false
}

// upTo is the id up to and including the part at a position.
func (id armText) upTo(at int) string { return "/" + strings.Join(id.parts[:at+1], "/") }

// clip shortens a text for an error message.
func clip(s string) string {
	const most = 120
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
