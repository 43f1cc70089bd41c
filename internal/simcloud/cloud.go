// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// ErrClosed is the error of a cloud that was closed.
var ErrClosed = errors.New("the simulated cloud is closed")

// maxKeptEvents bounds the part of the activity log kept in memory; the oldest
// events go first. The log writer gets all of them.
const maxKeptEvents = 100_000

// Cloud is one simulated cloud. It is safe for concurrent use.
type Cloud struct {
	clock  Clock
	log    *activity.Writer
	tokens map[string][sha256.Size]byte // hashed bearer tokens by actor
	admin  *[sha256.Size]byte           // hashed admin token, nil for no admin API

	ending  chan struct{} // closed when no call is kept waiting any more
	endOnce sync.Once
	delayed atomic.Int64

	mu     sync.Mutex
	cfg    Config
	closed bool
	world
	kept   []activity.Event
	serial uint64 // last number given to an operation, a request or an etag
	birth  int64  // distinguishes the ids of two clouds that append to one log
	logErr error  // first failure to write the log at the end of an operation
}

// world is what a reset empties.
type world struct {
	objects      map[string]*object // by arm.ID.Key
	operations   map[string]*operation
	inFlight     []*operation // in order of acceptance
	buckets      map[string]*bucket
	firstDone    map[string]bool // actors that had a write accepted
	throttleNext int
	failNext     map[string]*arm.Error // outcome of the next write, by arm.ID.Key
	addresses    uint32                // public addresses given out
	faults       []*fault              // armed, in the order they were
	lives        map[string]int        // incarnations so far, by arm.ID.Key
}

// object is a resource of the cloud.
type object struct {
	id  arm.ID
	res arm.Resource
	// provisioned is set once a write has succeeded: until then a PUT over a
	// failed creation is still a creation.
	provisioned bool
	// incarnation counts the lives of objects with this id, from 1.
	incarnation int
}

// newObject makes an empty object, the next incarnation of its id, outside the
// world.
func (c *Cloud) newObject(id arm.ID) *object {
	o := &object{id: id, incarnation: c.lives[id.Key()] + 1}
	o.res.Properties.UniqueID = c.newID()
	return o
}

// add puts a new object into the world.
func (w *world) add(o *object) {
	w.lives[o.id.Key()] = o.incarnation
	w.objects[o.id.Key()] = o
}

// identify writes the life of the object into an event.
func (o *object) identify(e *activity.Event) {
	e.Incarnation, e.UID = o.incarnation, o.res.Properties.UniqueID
}

func newWorld() world {
	return world{
		objects:    make(map[string]*object),
		operations: make(map[string]*operation),
		buckets:    make(map[string]*bucket),
		firstDone:  make(map[string]bool),
		failNext:   make(map[string]*arm.Error),
		lives:      make(map[string]int),
	}
}

// New makes an empty cloud. Close it to stop its timers.
func New(cfg Config) (*Cloud, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("simulated cloud: %w", err)
	}
	c := &Cloud{clock: cfg.Clock, cfg: cfg, world: newWorld(), birth: cfg.Clock.Now().UnixNano(), ending: make(chan struct{})}
	if cfg.Log != nil {
		c.log = activity.NewWriter(cfg.Log)
	}
	c.tokens = make(map[string][sha256.Size]byte, len(cfg.Tokens))
	for actor, token := range cfg.Tokens {
		c.tokens[actor] = sha256.Sum256([]byte(token))
	}
	if cfg.AdminToken != "" {
		sum := sha256.Sum256([]byte(cfg.AdminToken))
		c.admin = &sum
	}
	c.placeQuotas()
	for _, f := range cfg.Faults {
		if err := c.Inject(f); err != nil {
			return nil, fmt.Errorf("simulated cloud: %w", err)
		}
	}
	return c, nil
}

// Close stops the cloud: operations in flight never end, and later calls are
// refused. It returns the first failure to write the activity log, if any.
func (c *Cloud) Close() error {
	c.EndDelays()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.stopTimers()
	return c.logErr
}

// Reset forgets all objects, operations, buckets, faults and kept events. Switches and
// latencies stay, and quotas are those of the configuration and of SetQuota.
func (c *Cloud) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopTimers()
	c.world = newWorld()
	c.kept = nil
	c.placeQuotas()
}

func (c *Cloud) stopTimers() {
	for _, op := range c.inFlight {
		op.stop()
	}
}

// SetSupersede turns superseding of subnet writes on or off.
func (c *Cloud) SetSupersede(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cfg.Supersede = on
}

// SetLatency overrides a latency for writes to come; see Config.Latencies.
func (c *Cloud) SetLatency(key string, d time.Duration) error {
	if err := checkLatency(key, d); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cfg.Latencies == nil {
		c.cfg.Latencies = make(map[string]time.Duration)
	}
	c.cfg.Latencies[key] = d
	return nil
}

// ThrottleNext makes the next n writes fail with 429, whoever makes them.
func (c *Cloud) ThrottleNext(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.throttleNext = max(n, 0)
}

// FailNext makes the next accepted write of the object end Failed with the
// given code and message.
func (c *Cloud) FailNext(id arm.ID, code arm.Code, message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failNext[id.Key()] = &arm.Error{Code: code, Message: message, Target: id.String()}
}

// Events returns the activity log kept in memory.
func (c *Cloud) Events() []activity.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]activity.Event(nil), c.kept...)
}

// InFlight is the number of operations that have not ended.
func (c *Cloud) InFlight() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.inFlight)
}

// newID makes an id in the form of a UUID that is unique over restarts of the
// cloud and the same in every run of a deterministic simulation.
func (c *Cloud) newID() string {
	c.serial++
	b := uint64(c.birth)
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", uint32(b>>32), uint16(b>>16), b>>4&0xfff, b&0xfff, c.serial)
}

// newEtag makes a change token that differs from every earlier one.
func (c *Cloud) newEtag() string {
	c.serial++
	return fmt.Sprintf("W/%q", fmt.Sprintf("%x-%x", uint64(c.birth), c.serial))
}

func (c *Cloud) hasSubscription(id string) bool {
	for _, s := range c.cfg.Subscriptions {
		if strings.EqualFold(s, id) {
			return true
		}
	}
	return false
}

// below lists the objects under a prefix id, in no order.
func (w *world) below(id arm.ID) []*object {
	prefix := id.Key() + "/"
	var found []*object
	for key, o := range w.objects {
		if strings.HasPrefix(key, prefix) {
			found = append(found, o)
		}
	}
	return found
}
