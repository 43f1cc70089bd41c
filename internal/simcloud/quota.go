// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"fmt"
	"strings"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// parseQuotas checks quotas and spells their keys in lower case.
func parseQuotas(quotas map[string]int) (map[string]int, error) {
	parsed := make(map[string]int, len(quotas))
	for key, limit := range quotas {
		location, family, hasFamily := strings.Cut(key, "/")
		switch {
		case location == "":
			return nil, fmt.Errorf("quota %q names no location", key)
		case hasFamily && !arm.IsFamily(family):
			return nil, fmt.Errorf("quota %q: unknown family of sizes %q", key, family)
		case limit < 0:
			return nil, fmt.Errorf("quota %q is negative: %d", key, limit)
		}
		parsed[strings.ToLower(key)] = limit
	}
	return parsed, nil
}

// quotaKey is the key of Config.Quotas for a location and a family, which is
// empty for all families together.
func quotaKey(location, family string) string {
	if family != "" {
		location += "/" + family
	}
	return strings.ToLower(location)
}

// checkQuota refuses a machine, or a larger size of one, that would take more
// virtual processors than the quota of its location or of its family has left.
func (c *Cloud) checkQuota(ch *change) *arm.Error {
	if ch.id.Kind != arm.VirtualMachine || ch.after == nil {
		return nil
	}
	size, _ := arm.SizeByName(ch.after.Properties.VMSize) // checked with the content
	if refusal := c.checkBucket(ch, size, "", "total regional vCPUs"); refusal != nil {
		return refusal
	}
	return c.checkBucket(ch, size, size.Family, size.Family+" vCPUs")
}

// checkBucket checks one quota. What the machine has already counts as its own.
func (c *Cloud) checkBucket(ch *change, size arm.Size, family, name string) *arm.Error {
	limit, bounded := c.cfg.Quotas[quotaKey(ch.after.Location, family)]
	if !bounded {
		return nil
	}
	have := 0
	if ch.object != nil {
		have = c.processors(ch.object, family)
	}
	more := size.VCPUs - have
	used := c.used(ch.id.Subscription, ch.after.Location, family)
	if used+more <= limit {
		return nil
	}
	return notAllowed("the write would exceed the approved quota of %s. Location: %s, current limit: %d, current usage: %d, additional required: %d, minimum new limit: %d",
		name, ch.after.Location, limit, used, more, used+more)
}

// used is what the machines of a subscription and a location take of a quota.
// A machine counts from the acceptance of its creation to the end of its
// deletion; one whose creation failed counts too, until it is deleted.
func (c *Cloud) used(subscription, location, family string) int {
	sum := 0
	for _, o := range c.objects {
		if o.id.Kind == arm.VirtualMachine && strings.EqualFold(o.id.Subscription, subscription) && strings.EqualFold(o.res.Location, location) {
			sum += c.processors(o, family)
		}
	}
	return sum
}

// processors is what one machine takes of a quota: what its size has or, while
// it is being resized, the larger of both sizes.
func (c *Cloud) processors(o *object, family string) int {
	most := processorsOf(o.res, family)
	for _, op := range c.inFlight {
		if op.id.Key() == o.id.Key() && op.previous != nil {
			most = max(most, processorsOf(*op.previous, family))
		}
	}
	return most
}

func processorsOf(r arm.Resource, family string) int {
	size, _ := arm.SizeByName(r.Properties.VMSize)
	if family != "" && family != size.Family {
		return 0
	}
	return size.VCPUs
}
