// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"fmt"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/zclconf/go-cty/cty"
)

// resolve fills in references to objects that the same plan creates. Terraform
// does not know their ids yet; where an id follows from names, the rules do. It
// serves the forecast only: a call, once it is made, has all its references.
func (c *completion) resolve(steps []*step) {
	if c.draft.from.CloudID == nil {
		return
	}
	ids := c.futureIDs(steps)
	for _, s := range steps {
		resource := c.configured(s.module, s.local)
		if s.op.Action == admission.Delete || resource == nil || !isObject(s.op.Planned) {
			continue
		}
		s.op.Planned, s.resolved = filled(s, resource, ids)
	}
}

// instance names the resource instance that a reference in a module means.
type instance struct {
	module, local string
	key           string
}

func keyText(index any) string {
	if index == nil {
		return ""
	}
	return fmt.Sprintf("%v", index)
}

// futureIDs are the ids of the objects that will be made, as far as they can be
// told. A create that itself waits for an id is left out.
func (c *completion) futureIDs(steps []*step) map[instance]string {
	ids := map[instance]string{}
	for _, s := range steps {
		if s.op.Action != admission.Create {
			continue
		}
		if id, ok := c.draft.from.CloudID(s.op); ok {
			ids[instance{s.module, s.local, keyText(s.index)}] = id
		}
	}
	return ids
}

func isObject(v cty.Value) bool {
	v = bare(v)
	return v.IsKnown() && !v.IsNull() && v.Type().IsObjectType()
}

// filled is the planned state with the unknown texts replaced that are nothing
// but the id of an object that will be made, and whether there are any.
func filled(s *step, resource *tfjson.ConfigResource, ids map[instance]string) (planned cty.Value, any bool) {
	attrs := s.op.Planned.AsValueMap()
	for name, v := range attrs {
		if bare(v).IsKnown() || v.Type() != cty.String && v.Type() != cty.DynamicPseudoType {
			continue
		}
		if id, ok := referenced(s, resource, name, ids); ok {
			attrs[name], any = cty.StringVal(id), true
		}
	}
	if !any {
		return s.op.Planned, false
	}
	return cty.ObjectVal(attrs), true
}

// referenced is the id that an expression takes from another resource of the
// module. Terraform lists each reference from the longest form to the shortest:
// type.name[0].id, type.name[0], type.name. Where the key is that of the
// instance itself, the list has type.name and each.key or count.index; where
// for_each runs over another resource, it has each.value.id.
func referenced(s *step, resource *tfjson.ConfigResource, name string, ids map[instance]string) (string, bool) {
	references := referencesOf(resource.Expressions[name])
	if slices.Contains(references, "each.value.id") {
		references = append(referencesOf(resource.ForEachExpression), "each.key")
	}
	target, iterates := "", false
	for _, reference := range references {
		switch {
		case isIteration(reference):
			iterates = true
		case target == "":
			target = reference
		case !strings.HasPrefix(target, reference):
			return "", false // more than one object goes into the value
		}
	}
	whole, isID := strings.CutSuffix(target, ".id")
	local, key := whole, ""
	if at := strings.IndexByte(whole, '['); at >= 0 {
		local, key = whole[:at], strings.Trim(whole[at:], `[]"`)
	}
	if !isID && iterates {
		key = keyText(s.index)
	} else if !isID {
		return "", false
	}
	id, ok := ids[instance{s.module, local, key}]
	return id, ok
}

func referencesOf(x *tfjson.Expression) []string {
	if x == nil || x.ExpressionData == nil {
		return nil
	}
	return slices.Clone(x.References)
}

// isIteration says whether a reference is to the key of the instance itself.
func isIteration(reference string) bool {
	return strings.HasPrefix(reference, "count.") || strings.HasPrefix(reference, "each.")
}
