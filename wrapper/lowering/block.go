// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"slices"

	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/zclconf/go-cty/cty"
)

// block is a provider block of the configuration: one of the default provider
// and its aliases.
type block struct {
	provider string
	// said are the arguments whose values are known.
	said map[string]cty.Value
}

// configured leaves out the steps among those that fit a call whose resources
// use a provider with another configuration than the call came through. Aliases
// are the only thing that tells equal objects in two regions apart.
func (p *Plan) configured(fits []*step, call intercept.Call) []*step {
	if len(fits) < 2 || !isObject(call.ProviderConfig) {
		return fits
	}
	may := p.blocksOf(call)
	left := slices.DeleteFunc(slices.Clone(fits), func(s *step) bool { return s.block != nil && !slices.Contains(may, s.block) })
	if len(left) == 0 { // then the configuration is not understood
		return fits
	}
	return left
}

// blocksOf are the blocks that a call may have come through: those that its
// configuration does not contradict. Once as many configurations were given as
// there are blocks each has its own, so that one is also known by what the
// others cannot be.
func (p *Plan) blocksOf(call intercept.Call) []*block {
	var all []*block
	for _, b := range p.blocks {
		if b.provider == call.Provider {
			all = append(all, b)
		}
	}
	configs := []cty.Value{call.ProviderConfig}
	if p.configs != nil {
		for _, c := range p.configs(call.Provider) {
			if !c.RawEquals(call.ProviderConfig) {
				configs = append(configs, c)
			}
		}
	}
	choices := make([][]*block, len(configs))
	for i, c := range configs {
		choices[i] = slices.DeleteFunc(slices.Clone(all), func(b *block) bool { return !agrees(c, b.said) })
	}
	if len(configs) == len(all) {
		eliminate(choices)
	}
	return choices[0]
}

// eliminate takes away from each choice what another one needs.
func eliminate(choices [][]*block) {
	for changed := true; changed; {
		changed = false
		for i, choice := range choices {
			if len(choice) != 1 {
				continue
			}
			for k, other := range choices {
				if at := slices.Index(other, choice[0]); k != i && at >= 0 {
					choices[k] = slices.Delete(slices.Clone(other), at, at+1)
					changed = true
				}
			}
		}
	}
}
