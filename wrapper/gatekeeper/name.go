// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
)

// nameOf is what a call is called in front of people: by its address, or by the
// few that it may have. Where there is no plan to know that from, the values say
// which object it is, and the name does not pass for an address.
func nameOf(match lowering.Match, call intercept.Call) string {
	if name := match.Name(); name != "" {
		return name
	}
	state := call.Prior
	if !exists(state) {
		state = call.Planned
	}
	for _, attribute := range []string{"name", "id"} {
		if text, ok := plainText(call, state, attribute); ok {
			return fmt.Sprintf("a %s (%s %q)", call.Type, attribute, text)
		}
	}
	return "a " + call.Type
}

// maxText bounds a value in a name, in bytes.
const maxText = 200

// plainText is the text of an attribute of a state that may be shown: it is
// known, and not secret.
func plainText(call intercept.Call, state cty.Value, attribute string) (string, bool) {
	if call.Schema == nil || !exists(state) || !state.IsKnown() || !state.Type().IsObjectType() || !state.Type().HasAttribute(attribute) {
		return "", false
	}
	if sensitive(call.Schema).Has(cty.GetAttrPath(attribute)) {
		return "", false
	}
	v, _ := state.GetAttr(attribute).Unmark()
	if v.Type() != cty.String || !v.IsKnown() || v.IsNull() {
		return "", false
	}
	text := v.AsString()
	return text, text != "" && len(text) <= maxText
}
