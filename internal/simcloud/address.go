// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"net/netip"
	"slices"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Addresses the cloud keeps for itself in every subnet: the network address, the
// gateway and two name servers at the start, the broadcast address at the end.
const (
	reservedAtStart = 4
	reservedAtEnd   = 1
)

// longestSubnetPrefix is the smallest subnet the cloud makes.
const longestSubnetPrefix = 29

// publicBase is the first of the public addresses given out; the block is the
// one set aside for benchmarks, so none of them is anybody's.
const publicBase = 198<<24 | 18<<16

// checkAddresses checks the IPv4 side of a change and gives out addresses.
func (c *Cloud) checkAddresses(ch *change) *arm.Error {
	if ch.after == nil {
		return nil
	}
	switch ch.id.Kind {
	case arm.VirtualNetwork:
		return c.checkAddressSpace(ch)
	case arm.Subnet:
		return c.checkPrefix(ch)
	case arm.NetworkInterface:
		return c.assignPrivate(ch)
	case arm.PublicIPAddress:
		c.assignPublic(ch)
	}
	return nil
}

// checkAddressSpace wants prefixes that do not overlap and that cover the
// subnets there are, save those whose creation this change supersedes.
func (c *Cloud) checkAddressSpace(ch *change) *arm.Error {
	space, refusal := parsePrefixes(ch.after.Properties.AddressSpace.AddressPrefixes)
	if refusal != nil {
		return refusal
	}
	for i, p := range space {
		if slices.ContainsFunc(space[:i], p.Overlaps) {
			return badRequest(arm.CodeInvalidAddressPrefix, "the prefix %s overlaps another one of the address space", p)
		}
	}
	for _, subnet := range c.below(ch.id) {
		p, err := netip.ParsePrefix(subnet.res.Properties.AddressPrefix)
		if err == nil && !inSpace(p, space) && !ch.undoes(subnet.id) {
			return badRequest(arm.CodeInUsePrefix, "the address space leaves out the prefix %s of %s", p, subnet.id)
		}
	}
	return nil
}

// undoes reports whether the change cancels the creation of the object.
func (ch *change) undoes(id arm.ID) bool {
	return slices.ContainsFunc(ch.supersedes, func(op *operation) bool {
		return op.previous == nil && op.id.Key() == id.Key()
	})
}

func (c *Cloud) checkPrefix(ch *change) *arm.Error {
	prefixes, refusal := parsePrefixes([]string{ch.after.Properties.AddressPrefix})
	if refusal != nil {
		return refusal
	}
	p := prefixes[0]
	network, _ := ch.id.Parent()
	space, refusal := parsePrefixes(c.objects[network.Key()].res.Properties.AddressSpace.AddressPrefixes)
	if refusal != nil {
		return refusal
	}
	if p.Bits() > longestSubnetPrefix || !inSpace(p, space) {
		return badRequest(arm.CodeInvalidSubnet, "the prefix %s is longer than /%d or not in the address space of %s", p, longestSubnetPrefix, network)
	}
	for _, sister := range c.below(network) {
		other, err := netip.ParsePrefix(sister.res.Properties.AddressPrefix)
		if err == nil && sister != ch.object && other.Overlaps(p) {
			return badRequest(arm.CodeSubnetRangesOverlap, "the prefix %s overlaps the prefix %s of %s", p, other, sister.id)
		}
	}
	if ch.object != nil && ch.object.res.Properties.AddressPrefix != ch.after.Properties.AddressPrefix && len(c.users(ch.id.Key())) > 0 {
		return badRequest(arm.CodeInUsePrefix, "the prefix %s is in use", ch.object.res.Properties.AddressPrefix)
	}
	return nil
}

// assignPrivate gives an interface the lowest free address of its subnet, or
// leaves it the one it has.
func (c *Cloud) assignPrivate(ch *change) *arm.Error {
	subnetKey := refKey(ch.after.Properties.Subnet)
	if ch.object != nil && refKey(ch.object.res.Properties.Subnet) == subnetKey {
		ch.after.Properties.PrivateIPAddress = ch.object.res.Properties.PrivateIPAddress
		return nil
	}
	subnet := c.objects[subnetKey]
	taken := c.taken(subnet)
	p, err := netip.ParsePrefix(subnet.res.Properties.AddressPrefix)
	if err != nil {
		return badRequest(arm.CodeInvalidSubnet, "the subnet %s has no prefix", subnet.id)
	}
	first := binary.BigEndian.Uint32(p.Addr().AsSlice())
	size := uint32(1) << (32 - p.Bits())
	for n := uint32(reservedAtStart); n < size-reservedAtEnd; n++ {
		if a := address(first + n); !taken[a] {
			ch.after.Properties.PrivateIPAddress = a
			return nil
		}
	}
	return badRequest(arm.CodeSubnetIsFull, "the subnet %s has no free address", subnet.id)
}

// taken are the addresses of a subnet that interfaces have: from the acceptance
// of the write that puts an interface there to the end of the one that takes it
// away. An interface whose creation failed keeps its address until it is deleted.
func (c *Cloud) taken(subnet *object) map[string]bool {
	addresses := make(map[string]bool)
	for _, user := range c.users(subnet.id.Key()) {
		addresses[user.res.Properties.PrivateIPAddress] = true
	}
	for _, op := range c.inFlight {
		if op.previous != nil && refKey(op.previous.Properties.Subnet) == subnet.id.Key() {
			addresses[op.previous.Properties.PrivateIPAddress] = true
		}
	}
	return addresses
}

func (c *Cloud) assignPublic(ch *change) {
	if ch.object != nil {
		ch.after.Properties.IPAddress = ch.object.res.Properties.IPAddress
		return
	}
	c.addresses++
	ch.after.Properties.IPAddress = address(publicBase + c.addresses)
}

func address(n uint32) string {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b).String()
}

func parsePrefixes(texts []string) ([]netip.Prefix, *arm.Error) {
	var ps []netip.Prefix
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if err != nil || !p.Addr().Is4() || p.Bits() == 0 || p != p.Masked() {
			return nil, badRequest(arm.CodeInvalidAddressPrefix, "%q is no IPv4 prefix with its host bits zero", text)
		}
		ps = append(ps, p)
	}
	return ps, nil
}

func inSpace(p netip.Prefix, space []netip.Prefix) bool {
	return slices.ContainsFunc(space, func(s netip.Prefix) bool {
		return s.Bits() <= p.Bits() && s.Contains(p.Addr())
	})
}

func badRequest(code arm.Code, format string, args ...any) *arm.Error {
	return &arm.Error{HTTPStatus: http.StatusBadRequest, Code: code, Message: fmt.Sprintf(format, args...)}
}
