// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"errors"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

var (
	// ErrNotConfigured: the provider was not given the configuration that an
	// object is to be read with, or none at all.
	ErrNotConfigured = errors.New("the provider was not configured so in this run")
	// ErrConfigurations: the provider was configured in several ways, and
	// nothing says with which one an object is to be read.
	ErrConfigurations = errors.New("the provider was configured in several ways in this run")
)

// configuration is one that a provider has accepted. Its values and its request
// may hold secrets.
type configuration struct {
	value   cty.Value
	key     plugins.Key
	method  string
	request *frame

	// seat leads to the process that reads objects with the configuration; made
	// at the first read.
	seat *plugins.Seat
}

// configurations are all that a provider has accepted, each once.
type configurations struct {
	mu   sync.Mutex
	list []*configuration
}

// add remembers a configuration and reports whether it is a new one.
func (c *configurations) add(value cty.Value, key plugins.Key, method string, request *frame) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, known := range c.list {
		if known.key == key {
			return false
		}
	}
	c.list = append(c.list, &configuration{value: value, key: key, method: method, request: request})
	return true
}

// choose returns the configuration with a value; for a null one, or none, the
// only configuration. One that is not wholly known is of no use to read with:
// nobody can tell where it leads.
func (c *configurations) choose(value cty.Value) (*configuration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var chosen *configuration
	for _, known := range c.list {
		switch {
		case known.value.IsNull() || !known.value.IsWhollyKnown():
		case isGiven(value) && !known.value.RawEquals(value):
		case chosen != nil && !known.value.RawEquals(chosen.value):
			return nil, ErrConfigurations
		default:
			chosen = known
		}
	}
	if chosen == nil {
		return nil, ErrNotConfigured
	}
	return chosen, nil
}

func isGiven(value cty.Value) bool { return value != cty.NilVal && !value.IsNull() }

// reader returns the seat that reads with a configuration. It leads to a
// process of its own: an id that somebody else chose may crash an importer, and
// that must not take the changes with it that this run has under way.
func (c *configurations) reader(chosen *configuration, pool *plugins.Pool) *plugins.Seat {
	c.mu.Lock()
	defer c.mu.Unlock()
	if chosen.seat == nil {
		chosen.seat = pool.BriefSeat()
	}
	return chosen.seat
}

// readerKey is the key of the process that reads with a configuration.
func readerKey(key plugins.Key) plugins.Key { return hashParts([]byte("read"), key[:]) }

// enter brings the process that reads with a configuration up, and returns the
// right to make calls of it.
func (p *provider) enter(ctx context.Context, chosen *configuration) (*plugins.Lease, error) {
	if p.pool.Attached() {
		return p.enterAttached(ctx, chosen)
	}
	seat := p.configurations.reader(chosen, p.pool)
	configure := func(ctx context.Context, instance plugins.Instance) (plugins.Answer, error) {
		return p.configure(ctx, chosen.method, instance, chosen.request)
	}
	// A process that has crashed since is replaced by this, and only by this.
	answer, err := seat.Configure(ctx, readerKey(chosen.key), configure)
	if err != nil {
		return nil, err
	}
	if !answer.Accepted {
		return nil, plugins.ErrReplay
	}
	return seat.Lease(ctx)
}

// enterAttached returns the right to make calls of the only process of a
// provider that somebody else runs. It has one configuration at a time, and the
// changes under way need the one that they gave it; so it reads when there is no
// other one.
func (p *provider) enterAttached(ctx context.Context, chosen *configuration) (*plugins.Lease, error) {
	if p.configurations.count() > 1 {
		return nil, ErrConfigurations
	}
	return p.configurations.reader(chosen, p.pool).Lease(ctx)
}

// count returns how many configurations the provider has accepted.
func (c *configurations) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.list)
}
