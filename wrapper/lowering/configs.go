// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"
)

// config is the configuration of the provider instance that a step uses, null
// when it cannot be told. A plan says which instance a resource uses, and of its
// configuration only what is constant; the proxy has seen whole configurations,
// but not whose they are. One that was given is enough; of several, the only one
// that does not contradict the plan.
func (c *completion) config(s *step) cty.Value {
	none := cty.NullVal(cty.DynamicPseudoType)
	if c.draft.from.Configs == nil {
		return none
	}
	key := [3]string{s.op.Provider, s.module, s.local}
	config, known := c.configs[key]
	if !known {
		config = none
		if fitting := c.fittingConfigs(s); len(fitting) == 1 {
			config = fitting[0]
		}
		c.configs[key] = config
	}
	return config
}

func (c *completion) fittingConfigs(s *step) []cty.Value {
	given := c.draft.from.Configs(s.op.Provider)
	if len(given) == 1 {
		return given
	}
	said := c.constants(s)
	return slices.DeleteFunc(slices.Clone(given), func(config cty.Value) bool { return !agrees(config, said) })
}

// constants are the arguments of the resource's provider block whose values stand
// in the configuration itself, or in a variable of the root module.
func (c *completion) constants(s *step) map[string]cty.Value {
	if block := c.block(s); block != nil {
		return block.said
	}
	return nil
}

// block is the provider block of a step's resource, nil when it cannot be told.
func (c *completion) block(s *step) *block {
	resource := c.configured(s.module, s.local)
	if resource == nil {
		return nil
	}
	return c.plan.blocks[resource.ProviderConfigKey]
}

// readBlocks reads all provider blocks of the configuration.
func (c *completion) readBlocks() {
	if c.draft.raw.Config == nil {
		return
	}
	for key, config := range c.draft.raw.Config.ProviderConfigs {
		b := &block{provider: config.FullName, said: map[string]cty.Value{}}
		for name, x := range config.Expressions {
			if raw, ok := c.constant(x, config.ModuleAddress); ok {
				if v, err := decode(raw, nil, cty.DynamicPseudoType); err == nil {
					b.said[name] = v
				}
			}
		}
		c.plan.blocks[key] = b
	}
}

// constant is the value of an expression that is a literal or one variable of
// the root module.
func (c *completion) constant(x *tfjson.Expression, module string) (any, bool) {
	switch {
	case x == nil || x.ExpressionData == nil || len(x.NestedBlocks) > 0:
		return nil, false
	case x.ConstantValue != tfjson.UnknownConstantValue && x.ConstantValue != nil:
		return x.ConstantValue, true
	case module == "" && len(x.References) == 1:
		name, isVariable := strings.CutPrefix(x.References[0], "var.")
		v := c.draft.raw.Variables[name]
		if !isVariable || v == nil || v.Value == nil {
			return nil, false
		}
		return v.Value, true
	default:
		return nil, false
	}
}

// agrees says whether a configuration has all the arguments that are known. An
// expression with one variable in it need not be that variable, so a text that
// contains it agrees too.
func agrees(config cty.Value, said map[string]cty.Value) bool {
	config = bare(config)
	if !config.IsKnown() || config.IsNull() || !config.Type().IsObjectType() {
		return false
	}
	for name, want := range said {
		if !config.Type().HasAttribute(name) || !contains(bare(config.GetAttr(name)), want) {
			return false
		}
	}
	return true
}

func contains(have, want cty.Value) bool {
	if fits(want, have) {
		return true
	}
	if !have.IsKnown() || have.IsNull() || have.Type() != cty.String || want.IsNull() || want.Type() != cty.String {
		return false
	}
	return want.AsString() != "" && strings.Contains(have.AsString(), want.AsString())
}

// configured is a resource as the configuration has it, nil when it is gone
// from there.
func (c *completion) configured(module, local string) *tfjson.ConfigResource {
	if c.draft.raw.Config == nil {
		return nil
	}
	path := strings.Join(moduleCalls(module), "/")
	if c.resources[path] == nil {
		if c.resources == nil {
			c.resources = map[string]map[string]*tfjson.ConfigResource{}
		}
		c.resources[path] = resourcesOf(c.moduleOf(module))
	}
	return c.resources[path][local]
}

// moduleOf is a module as the configuration has it, nil when it is gone.
func (c *completion) moduleOf(address string) *tfjson.ConfigModule {
	m := c.draft.raw.Config.RootModule
	for _, name := range moduleCalls(address) {
		if m == nil || m.ModuleCalls[name] == nil {
			return nil
		}
		m = m.ModuleCalls[name].Module
	}
	return m
}

// resourcesOf are the resources of a module by their address in it.
func resourcesOf(m *tfjson.ConfigModule) map[string]*tfjson.ConfigResource {
	resources := map[string]*tfjson.ConfigResource{}
	if m == nil {
		return resources
	}
	for _, x := range m.Resources {
		if x.Mode == tfjson.ManagedResourceMode {
			resources[x.Type+"."+x.Name] = x
		}
	}
	return resources
}

// moduleCalls are the names of the module calls on the way to a module:
// module.a["x.y"].module.b has a and b.
func moduleCalls(address string) []string {
	var names []string
	for address != "" {
		rest, ok := strings.CutPrefix(address, "module.")
		if !ok {
			return nil
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			return append(names, rest)
		}
		names = append(names, rest[:end])
		address = strings.TrimPrefix(skipKey(rest[end:]), ".")
	}
	return names
}

// skipKey is a text without the instance key that it begins with.
func skipKey(s string) string {
	if !strings.HasPrefix(s, "[") {
		return s
	}
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ']' && !quoted:
			return s[i+1:]
		}
	}
	return ""
}
