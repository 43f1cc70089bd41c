// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"context"
	"fmt"
	"io"
	"time"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/zclconf/go-cty/cty"
)

// Draft is a plan as it was printed. What it means to the cloud also depends on
// what is known of the providers, and that may come later: a saved plan is read
// before any provider is configured. It is not safe for concurrent use.
type Draft struct {
	from Sources
	// raw has the version, the variables and the configuration alone.
	raw *tfjson.Plan
	// steps have what the plan says of them and nothing else.
	steps     []*step
	madeAt    time.Time
	applyable bool
	changes   map[string]string
}

// ReadDraft is ReadFrom for a plan that is to be understood later, or again.
func ReadDraft(ctx context.Context, planJSON io.Reader, from Sources) (*Draft, error) {
	r := reader{
		from: from, draft: &Draft{from: from, raw: &tfjson.Plan{}, changes: map[string]string{}},
		schemas: map[[2]string]*intercept.Schema{}, untyped: newUntyped(),
	}
	if err := r.read(ctx, newDocument(planJSON)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	return r.draft, nil
}

// Plan is the plan with what is known of the providers by now. Each call makes a
// new one, of which no call has been matched with anything.
func (d *Draft) Plan() *Plan {
	c := completion{draft: d, configs: map[[3]string]cty.Value{}, plan: &Plan{
		MadeAt: d.madeAt, Applyable: d.applyable, Changes: d.changes,
		byKey: map[stepKey]*group{}, blocks: map[string]*block{}, configs: d.from.Configs,
	}}
	for _, s := range d.steps {
		own := *s
		c.plan.add(&own)
	}
	c.complete()
	return c.plan
}

// completion adds to a plan what only the whole of it tells.
type completion struct {
	draft *Draft
	plan  *Plan
	// configs are the provider configurations that were found already, by
	// provider, module and resource.
	configs map[[3]string]cty.Value
	// resources are those of the configuration, by the path of their module.
	resources map[string]map[string]*tfjson.ConfigResource
}

func (c *completion) complete() {
	p := c.plan
	c.readBlocks()
	for _, s := range p.steps {
		s.block = c.block(s)
		s.op.ProviderConfig = c.config(s)
		s.provisioned = s.op.Action != admission.Update && c.provisioned(s.module, s.local)
	}
	bind(p.steps)
	c.resolve(p.steps)
	for _, g := range p.byKey {
		g.finish()
	}
}

// provisioned says whether a resource has provisioners, of whatever kind.
func (c *completion) provisioned(module, local string) bool {
	resource := c.configured(module, local)
	return resource != nil && len(resource.Provisioners) > 0
}
