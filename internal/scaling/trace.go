// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// firstCall is how much longer the first call of the paper's session A took than
// the same call of session C (CloudWeaver, figure 6).
const firstCall = 3630 * time.Millisecond

// Trace is the validation trace of the paper (CloudWeaver, section 5): A makes
// a group, a network and a subnet, B adds a subnet to A's network, and C makes
// a group and a network elsewhere. Whoever retries nothing, as the paper's parallel
// policy, loses one of the two subnets.
func Trace() Scene {
	var a, b, c builder
	a.n, b.n, c.n = 0, 1, 2
	for _, x := range []*builder{&a, &b, &c} {
		x.location = elsewhere
		x.session.Groups = []string{groupName(x.n)}
	}
	b.session.Groups = []string{groupName(a.n)}
	a.addNetwork()
	c.addNetwork()
	subnet := func(x *builder, name, prefix string, after ...int) {
		x.add("simcloud_subnet."+name, arm.ChildID(arm.Subnet, subscription, groupName(a.n), "net", name), arm.Properties{AddressPrefix: prefix}, after...)
	}
	subnet(&a, "a", "10.0.1.0/24", 1)
	subnet(&b, "b", "10.0.2.0/24")
	b.session.Calls[0].Needs = []Place{{a.n, 1}}
	return Scene{
		Name:     "the paper's trace",
		Sessions: []Session{a.session, b.session, c.session}, Paced: true,
		FirstCallExtra: map[string]time.Duration{groupName(a.n): firstCall},
	}
}

// addNetwork adds a group and a network in it.
func (b *builder) addNetwork() {
	group := b.add("simcloud_resource_group.this", arm.GroupID(subscription, groupName(b.n)), arm.Properties{})
	b.add("simcloud_virtual_network.this", networkID(groupName(b.n)), space(), group)
}

// PaperFigure is what the paper reports of a policy.
type PaperFigure struct {
	Strategy Strategy
	// Makespan is in seconds; Succeeded counts operations, of six.
	Makespan  float64
	Succeeded int
}

// PaperFigures are those of the paper's figure 6 (section 5, latency comparison).
func PaperFigures() []PaperFigure {
	return []PaperFigure{{Serial, 33.03, 6}, {Uncoordinated, 18.33, 5}, {Coordinated, 25.55, 6}}
}
