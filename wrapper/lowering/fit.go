// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import "github.com/zclconf/go-cty/cty"

// fits says whether a value may be what a plan foresaw. An unknown part of the
// plan fits anything. Values are compared by content: a plan in JSON does not
// tell a list from a tuple or a map from an object where the schema leaves the
// type open.
func fits(planned, actual cty.Value) bool {
	planned, actual = bare(planned), bare(actual)
	switch {
	case !planned.IsKnown():
		return true
	case !actual.IsKnown():
		return false
	case planned.IsNull() || actual.IsNull():
		return planned.IsNull() && actual.IsNull()
	case planned.Type() == cty.Number && actual.Type() == cty.Number:
		return sameNumber(planned, actual)
	case planned.Type().IsPrimitiveType() || actual.Type().IsPrimitiveType():
		return planned.Type() == actual.Type() && planned.RawEquals(actual)
	case isKeyed(planned) && isKeyed(actual):
		return keyedFits(planned, actual)
	case isSet(planned) || isSet(actual):
		return setFits(planned.AsValueSlice(), actual.AsValueSlice())
	case isSequence(planned) && isSequence(actual):
		return sequenceFits(planned.AsValueSlice(), actual.AsValueSlice())
	default:
		return false
	}
}

// sameNumber compares numbers as a plan in JSON writes them: with the shortest
// digits that tell a number from others of its own precision. A provider that
// computes in 64 bits so has 0.1 written, which is another number when it is
// read with more.
func sameNumber(planned, actual cty.Value) bool {
	x, y := planned.AsBigFloat(), actual.AsBigFloat()
	return x.Cmp(y) == 0 || x.Text('g', -1) == y.Text('g', -1)
}

// bare is a value without marks; an absent one is null.
func bare(v cty.Value) cty.Value {
	if v == cty.NilVal {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	v, _ = v.Unmark()
	return v
}

func isKeyed(v cty.Value) bool { return v.Type().IsObjectType() || v.Type().IsMapType() }

func isSet(v cty.Value) bool { return v.Type().IsSetType() }

func isSequence(v cty.Value) bool { return v.Type().IsListType() || v.Type().IsTupleType() }

// keyedFits compares attributes. One that is only on one side must be null: a
// plan without a schema leaves out what is not set.
func keyedFits(planned, actual cty.Value) bool {
	want, have := planned.AsValueMap(), actual.AsValueMap()
	for key, v := range want {
		other, ok := have[key]
		if !ok {
			other = cty.NullVal(cty.DynamicPseudoType)
		}
		if !fits(v, other) {
			return false
		}
	}
	for key, v := range have {
		if _, ok := want[key]; !ok && !bare(v).IsNull() {
			return false
		}
	}
	return true
}

func sequenceFits(planned, actual []cty.Value) bool {
	if len(planned) != len(actual) {
		return false
	}
	for i := range planned {
		if !fits(planned[i], actual[i]) {
			return false
		}
	}
	return true
}

// setFits pairs the elements of two sets. Elements that are wholly known are
// paired first, since the others may fit more than one. Unknown elements may
// turn out equal, so the actual set may be smaller then.
func setFits(planned, actual []cty.Value) bool {
	rest := append([]cty.Value(nil), actual...)
	var open []cty.Value
	for _, v := range planned {
		if !v.IsWhollyKnown() {
			open = append(open, v)
			continue
		}
		i := indexFitting(v, rest)
		if i < 0 {
			return false
		}
		rest = append(rest[:i], rest[i+1:]...)
	}
	return len(rest) <= len(open) && allFit(open, rest)
}

// allFit says whether every actual element fits one of the open ones.
func allFit(open, rest []cty.Value) bool {
	for _, v := range rest {
		fit := false
		for _, o := range open {
			fit = fit || fits(o, v)
		}
		if !fit {
			return false
		}
	}
	return true
}

func indexFitting(planned cty.Value, among []cty.Value) int {
	for i, v := range among {
		if fits(planned, v) {
			return i
		}
	}
	return -1
}

// idOf is the id attribute of a state, where it is known.
func idOf(state cty.Value) (string, bool) {
	state = bare(state)
	if !state.IsKnown() || state.IsNull() || !state.Type().IsObjectType() || !state.Type().HasAttribute("id") {
		return "", false
	}
	id := bare(state.GetAttr("id"))
	if !id.IsKnown() || id.IsNull() || id.Type() != cty.String {
		return "", false
	}
	return id.AsString(), id.AsString() != ""
}
