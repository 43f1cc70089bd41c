// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/zclconf/go-cty/cty"
)

// reader turns the parts of a plan into steps.
type reader struct {
	from    Sources
	draft   *Draft
	schemas map[[2]string]*intercept.Schema
	untyped *untyped
	// names are the texts of providers, types and modules that were read
	// already: thousands of changes share a few.
	names map[string]string
	// said is whether the plan says itself that it can be applied.
	said *bool
}

// read reads all that is needed of a plan. The parts may come in any order.
func (r *reader) read(ctx context.Context, d *document) error {
	err := d.members(func(name string) error {
		switch name {
		case "format_version":
			return d.decode(&r.draft.raw.FormatVersion)
		case "variables":
			return d.decode(&r.draft.raw.Variables)
		case "configuration":
			return d.decode(&r.draft.raw.Config)
		case "timestamp":
			return r.timestamp(d)
		case "applyable":
			return d.decode(&r.said)
		case "resource_changes":
			return d.elements(func() error { return r.change(ctx, d) })
		case "output_changes":
			return d.members(func(name string) error { return r.output(d, name) })
		default:
			return d.skip()
		}
	})
	if err != nil {
		return err
	}
	if err := d.end(); err != nil {
		return err
	}
	r.draft.applyable = len(r.draft.changes) > 0
	if r.said != nil {
		r.draft.applyable = *r.said
	}
	return r.draft.raw.Validate()
}

// timestamp notes when the plan was made. What is no time is as good as none.
func (r *reader) timestamp(d *document) error {
	var text string
	if err := d.decode(&text); err != nil {
		return err
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		r.draft.madeAt = at
	}
	return nil
}

// output notes what becomes of an output.
func (r *reader) output(d *document, name string) error {
	var change struct {
		Actions tfjson.Actions `json:"actions"`
	}
	err := d.decode(&change)
	r.note("output."+name, change.Actions)
	return err
}

// note notes what a change does, if it is one at all. The CLI asks for approval of
// a plan with any.
func (r *reader) note(address string, actions tfjson.Actions) {
	if slices.ContainsFunc(actions, func(a tfjson.Action) bool { return a != tfjson.ActionNoop && a != tfjson.ActionRead }) {
		r.draft.changes[address] = r.shared(nameOf(actions))
	}
}

// nameOf is what people call actions, in one word.
func nameOf(actions tfjson.Actions) string {
	if slices.Contains(actions, tfjson.ActionCreate) && slices.Contains(actions, tfjson.ActionDelete) {
		return "replace"
	}
	var words []string
	for _, a := range actions {
		words = append(words, string(a))
	}
	return strings.Join(words, " and ")
}

// resourceChange is the part of a change that is needed. Values stay text until
// it is known what they are.
type resourceChange struct {
	Address       string          `json:"address"`
	ModuleAddress string          `json:"module_address"`
	Type          string          `json:"type"`
	Name          string          `json:"name"`
	Index         json.RawMessage `json:"index"`
	ProviderName  string          `json:"provider_name"`
	DeposedKey    string          `json:"deposed"`
	Change        struct {
		Actions         tfjson.Actions  `json:"actions"`
		Before          json.RawMessage `json:"before"`
		After           json.RawMessage `json:"after"`
		AfterUnknown    json.RawMessage `json:"after_unknown"`
		BeforeSensitive json.RawMessage `json:"before_sensitive"`
		AfterSensitive  json.RawMessage `json:"after_sensitive"`
	} `json:"change"`
}

// change reads one change, and adds the calls that it needs; none for data
// sources and for changes that stay in Terraform's state.
func (r *reader) change(ctx context.Context, d *document) error {
	raw, err := d.value()
	if err != nil {
		return err
	}
	var change resourceChange
	if json.Unmarshal(raw, &change) != nil {
		return errJSON
	}
	r.note(noted(&change), change.Change.Actions)
	actions := callsOf(change.Change.Actions)
	if len(actions) == 0 {
		return nil
	}
	for _, name := range []*string{&change.ProviderName, &change.Type, &change.ModuleAddress, &change.Name} {
		*name = r.shared(*name)
	}
	values, err := r.values(ctx, &change)
	if err != nil {
		return fmt.Errorf("values of %s: %w", change.Address, err)
	}
	index, err := r.untyped.read(change.Index)
	if err != nil {
		return err
	}
	for _, action := range actions {
		s := r.step(&change, action, values)
		s.index = index
		r.draft.steps = append(r.draft.steps, s)
	}
	return nil
}

// shared is a text that is kept once, however often it is read.
func (r *reader) shared(text string) string {
	if known, ok := r.names[text]; ok {
		return known
	}
	if r.names == nil {
		r.names = map[string]string{}
	}
	r.names[text] = text
	return text
}

// callsOf are the calls that change the cloud among the actions of a change.
func callsOf(actions tfjson.Actions) []admission.Action {
	var calls []admission.Action
	for _, a := range actions {
		switch a {
		case tfjson.ActionCreate:
			calls = append(calls, admission.Create)
		case tfjson.ActionUpdate:
			calls = append(calls, admission.Update)
		case tfjson.ActionDelete:
			calls = append(calls, admission.Delete)
		}
	}
	return calls
}

func (r *reader) step(change *resourceChange, action admission.Action, v values) *step {
	op := ruleengine.Operation{
		Provider: change.ProviderName, Type: change.Type,
		Action: action, Address: address(change), Prior: v.before, Planned: v.after, Sensitive: v.sensitive,
	}
	switch action {
	case admission.Create:
		op.Prior = cty.NullVal(v.ty)
	case admission.Delete:
		op.Planned = cty.NullVal(v.ty)
	}
	return &step{
		id: callID(action, change.Address, change.DeposedKey), op: op,
		address: change.Address, deposed: change.DeposedKey,
		planned: op.Planned, likeness: likenessOf(change, action),
		module: change.ModuleAddress, local: r.shared(change.Type + "." + change.Name),
	}
}

// likenessOf is equal for changes whose calls cannot be told apart. The CLI
// writes equal values equally.
func likenessOf(change *resourceChange, action admission.Action) [sha256.Size]byte {
	c := change.Change
	parts := [][]byte{c.Before, c.After, c.AfterUnknown}
	switch action {
	case admission.Create:
		parts = parts[1:]
	case admission.Delete:
		parts = parts[:1]
	}
	return sha256.Sum256(bytes.Join(parts, []byte{0}))
}

// address is the address of a change as Terraform prints it; a deposed object
// has none of its own.
func address(change *resourceChange) string {
	if change.DeposedKey != "" {
		return change.Address + " (deposed object " + change.DeposedKey + ")"
	}
	return change.Address
}

// noted is the address under which a change is noted.
func noted(change *resourceChange) string {
	if change.DeposedKey != "" {
		return change.Address + " (deposed " + change.DeposedKey + ")"
	}
	return change.Address
}

// schema is the schema of a change's type, nil when it is not known.
func (r *reader) schema(ctx context.Context, change *resourceChange) *intercept.Schema {
	key := [2]string{change.ProviderName, change.Type}
	if s, asked := r.schemas[key]; asked || r.from.Schema == nil {
		return s
	}
	s, err := r.from.Schema(ctx, change.ProviderName, change.Type)
	if err != nil {
		s = nil
	}
	r.schemas[key] = s
	return s
}
