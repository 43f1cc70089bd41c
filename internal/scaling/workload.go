// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Sharing says what sessions have in common.
type Sharing string

// What sessions share. Whoever shares nothing works in a resource group of its
// own.
const (
	// Nothing is shared.
	Nothing Sharing = "nothing"
	// Network: subnets are put into one network, of which the cloud takes one
	// write at a time.
	Network Sharing = "network"
	// SecurityGroup: rules are put into one security group, which the interfaces
	// of the session use too.
	SecurityGroup Sharing = "security group"
	// Quota: machines count against one quota, which has room for all.
	Quota Sharing = "quota"
	// ShortQuota is a quota that has room for half of the sessions' machines.
	ShortQuota Sharing = "short quota"
	// Anything is one of Network, SecurityGroup and Quota, by chance.
	Anything Sharing = "anything"
	// Handover: subnets are put into a network that another session is about to
	// make.
	Handover Sharing = "handover"
)

// Workload is what sessions do, and when they come.
type Workload struct {
	Name string
	// Sharing is what those share that share something, and Percent how many of
	// them do.
	Sharing Sharing
	Percent int
	// Spread is the time over which sessions arrive, evenly but for chance; 0
	// lets all arrive at once.
	Spread time.Duration
}

// Workloads are those that are measured, from independent to fully conflicting.
func Workloads() []Workload {
	return []Workload{
		{Name: "independent", Sharing: Nothing},
		{Name: "network 10 %", Sharing: Network, Percent: 10},
		{Name: "mixed 50 %", Sharing: Anything, Percent: 50},
		{Name: "mixed 50 %, staggered", Sharing: Anything, Percent: 50, Spread: 5 * time.Minute},
		{Name: "security group 100 %", Sharing: SecurityGroup, Percent: 100},
		{Name: "handover 50 %", Sharing: Handover, Percent: 50},
		{Name: "quota 100 %", Sharing: Quota, Percent: 100},
		{Name: "short quota 100 %", Sharing: ShortQuota, Percent: 100},
		{Name: "network 100 %, staggered", Sharing: Network, Percent: 100, Spread: 5 * time.Minute},
		{Name: "network 100 %", Sharing: Network, Percent: 100},
	}
}

// Session is one run: its calls, and when it arrives, counted from the first
// arrival.
type Session struct {
	Arrival time.Duration
	Calls   []Operation
	// Groups are the resource groups that it works in, its own first.
	Groups []string
}

// Scene is a workload with its sessions.
type Scene struct {
	// Name is that of the workload.
	Name string
	// Shared are the objects that are there before, parents first.
	Shared []Operation
	// Quotas bound the processors of locations.
	Quotas   map[string]int
	Sessions []Session
	// Paced lets calls of other sessions be sent when what they need is there, also
	// where nobody coordinates: as somebody would who looks at the cloud first. Such
	// a call is tried once.
	Paced bool
	// FirstCallExtra is how much longer the first call of a session takes than
	// others, by its group.
	FirstCallExtra map[string]time.Duration
}

const (
	subscription = arm.DefaultSubscription
	sharedGroup  = "shared"
	// bounded is the location with a quota, elsewhere the one without.
	bounded, elsewhere = "north", "south"
	machineSize        = "Standard_D2s_v5"
	machineCores       = 2
)

// Build makes the sessions of a workload. One seed gives one scene, and the n-th
// session is the same in all sizes of it, but for when it comes.
func (w Workload) Build(sessions int, seed uint64) Scene {
	s := Scene{Name: w.Name, Shared: furniture()}
	cores := 0
	for n := range sessions {
		b := newBuilder(n, w.sharing(n, seed), seed)
		b.build()
		if w.Spread > 0 && n > 0 {
			b.session.Arrival = time.Duration((float64(n) + b.chance.Float64()) / float64(sessions) * float64(w.Spread))
		}
		cores += b.cores
		s.Sessions = append(s.Sessions, b.session)
	}
	if cores > 0 {
		if w.Sharing == ShortQuota {
			cores = max(cores/2, 1)
		}
		s.Quotas = map[string]int{bounded: cores}
	}
	return s
}

// needs is what the sessions ask for of the bounded capacity, in the order in which
// they arrive.
func (s Scene) needs() []need {
	var needs []need
	for n := range s.Sessions {
		sum := 0
		for i := range s.Sessions[n].Calls {
			sum += s.Sessions[n].Calls[i].takes()
		}
		if sum > 0 {
			needs = append(needs, need{n, sum})
		}
	}
	slices.SortStableFunc(needs, func(a, b need) int {
		return cmp.Compare(s.Sessions[a.run].Arrival, s.Sessions[b.run].Arrival)
	})
	return needs
}

// sharing is what the n-th session shares. Those that share are spread evenly.
func (w Workload) sharing(n int, seed uint64) Sharing {
	switch {
	case (n*w.Percent)/100 == ((n+1)*w.Percent)/100:
		return Nothing
	case w.Sharing == Anything:
		return []Sharing{Network, SecurityGroup, Quota}[chance(seed, n, 2).IntN(3)]
	default:
		return w.Sharing
	}
}

func chance(seed uint64, n, use int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(n)<<8|uint64(use)))
}

// furniture is what is there before any session comes.
func furniture() []Operation {
	b := builder{session: Session{Groups: []string{sharedGroup}}, location: elsewhere}
	group := b.add("simcloud_resource_group.shared", arm.GroupID(subscription, sharedGroup), arm.Properties{})
	b.add("simcloud_virtual_network.shared", networkID(sharedGroup), space(), group)
	b.add("simcloud_network_security_group.shared", securityID(sharedGroup), arm.Properties{}, group)
	return b.session.Calls
}

func networkID(group string) arm.ID {
	return arm.TopID(arm.VirtualNetwork, subscription, group, "net")
}

func securityID(group string) arm.ID {
	return arm.TopID(arm.SecurityGroup, subscription, group, "nsg")
}

func space() arm.Properties {
	return arm.Properties{AddressSpace: &arm.AddressSpace{AddressPrefixes: []string{"10.0.0.0/8"}}}
}

func groupName(n int) string { return fmt.Sprintf("g%04d", n) }
