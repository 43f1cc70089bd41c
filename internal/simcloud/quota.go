// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// parseQuotas checks quotas and spells their keys as the cloud does.
func parseQuotas(quotas map[string]int) (map[string]int, error) {
	parsed := make(map[string]int, len(quotas))
	for key, limit := range quotas {
		key, err := parseQuotaKey(key)
		if err != nil {
			return nil, err
		}
		if limit < 0 {
			return nil, fmt.Errorf("quota %q is negative: %d", key, limit)
		}
		parsed[key] = limit
	}
	return parsed, nil
}

// parseQuotaKey checks LOCATION or LOCATION/FAMILY: the location becomes lower
// case, the family is spelled as in arm.Sizes.
func parseQuotaKey(key string) (string, error) {
	location, family, hasFamily := strings.Cut(key, "/")
	location = strings.ToLower(location)
	if location == "" {
		return "", fmt.Errorf("quota %q names no location", key)
	}
	if _, err := arm.ParseID(arm.QuotaID(arm.DefaultSubscription, location, "").String()); err != nil {
		return "", fmt.Errorf("quota %q: %w", key, err)
	}
	if !hasFamily {
		return location, nil
	}
	spelled, known := arm.FamilyByName(family)
	if !known {
		return "", fmt.Errorf("quota %q: unknown family of sizes %q", key, family)
	}
	return location + "/" + spelled, nil
}

// SetQuota changes the limit of a quota in every subscription, or makes the quota
// if there was none. The key is one of Config.Quotas. It takes effect at once,
// also below what is in use: what is there stays.
func (c *Cloud) SetQuota(key string, limit int) error {
	parsed, err := parseQuotas(map[string]int{key: limit})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, limit := range parsed {
		c.cfg.Quotas[key] = limit
		c.placeQuota(key, limit)
	}
	return nil
}

// placeQuotas makes the quotas of the configuration.
func (c *Cloud) placeQuotas() {
	for key, limit := range c.cfg.Quotas {
		c.placeQuota(key, limit)
	}
}

func (c *Cloud) placeQuota(key string, limit int) {
	location, family, _ := strings.Cut(key, "/")
	for _, subscription := range c.cfg.Subscriptions {
		id := arm.QuotaID(subscription, location, family)
		o, ok := c.objects[id.Key()]
		if !ok {
			o = c.newObject(id)
			c.add(o)
			o.provisioned = true
			o.res.ID, o.res.Name, o.res.Type = id.String(), id.Name, id.Kind.Type()
			o.res.Properties.ProvisioningState = arm.Succeeded
		}
		o.res.Properties.Limit = &limit
		c.touch(o)
	}
}

// checkQuotaWrite refuses to create or delete a quota: its limit can be changed,
// that is all.
func (c *Cloud) checkQuotaWrite(ch *change) *arm.Error {
	switch {
	case ch.id.Kind != arm.Quota:
		return nil
	case ch.verb == Delete:
		return &arm.Error{HTTPStatus: http.StatusMethodNotAllowed, Code: arm.CodeMethodNotAllowed, Message: "a quota takes GET and PUT"}
	case ch.object == nil:
		return c.notFound(ch.id)
	}
	return nil
}

// limit is what a quota allows; while it is being changed, the smaller of both
// limits.
func (c *Cloud) limit(quota *object) int {
	least := *quota.res.Properties.Limit
	for _, op := range c.inFlight {
		if op.id.Key() == quota.id.Key() {
			least = min(least, *op.previous.Properties.Limit)
		}
	}
	return least
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

// checkBucket checks one quota. What the machine has already counts as its own,
// and it keeps that also where the limit has become smaller.
func (c *Cloud) checkBucket(ch *change, size arm.Size, family, name string) *arm.Error {
	quota, bounded := c.objects[arm.QuotaID(ch.id.Subscription, ch.after.Location, family).Key()]
	if !bounded {
		return nil
	}
	limit, have := c.limit(quota), 0
	if ch.object != nil {
		have = c.processors(ch.object, family)
	}
	more := size.VCPUs - have
	used := c.used(ch.id.Subscription, ch.after.Location, family)
	if more <= 0 || used+more <= limit {
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
	if family != "" && !strings.EqualFold(family, size.Family) {
		return 0
	}
	return size.VCPUs
}
