// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/ruleengine"
)

// Covers says whether a rule knows a resource type of a provider.
type Covers func(provider, resourceType string) bool

// Coverage says in a line how many of the resources that a plan changes have a
// rule: "212 of 230 resources ruled". Logical resources, which exist in
// Terraform's state only, do not count; a replace counts once.
func (p *Plan) Coverage(covers Covers) string {
	ruled, all := 0, 0
	seen := map[string]bool{}
	for _, s := range p.steps {
		if seen[s.op.Address] || ruleengine.Logical(s.op.Provider) {
			continue
		}
		seen[s.op.Address] = true
		all++
		if covers(s.op.Provider, s.op.Type) {
			ruled++
		}
	}
	return fmt.Sprintf("%d of %d resources ruled", ruled, all)
}
