// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// Session is this run's session with the coordinator.
type Session interface {
	ID() string
	Done() <-chan struct{}
	Err() error
	Forecast(ctx context.Context, requests []admission.Request, declare bool) ([]client.Prospect, error)
	Submit(ctx context.Context, request admission.Request, resubmit admission.TxID, onWait func(client.Waiting)) (Grant, error)
	Observe(ctx context.Context, began uint64, nodes []graph.Decl, objects []admission.Observation) (uint64, error)
	Lookup(ctx context.Context, ids ...graph.NodeID) ([]coordinator.Found, uint64, error)
}

// Grant is the right to send one call.
type Grant interface {
	Tx() admission.TxID
	Start(ctx context.Context) error
	Complete(ctx context.Context, outcome client.Outcome) error
	Withdraw(ctx context.Context) error
}

// Engine is what a rule engine does for the gatekeeper.
type Engine interface {
	Lower(ctx context.Context, op ruleengine.Operation, live ruleengine.Graph) (ruleengine.Lowered, error)
	See(object ruleengine.Object) (ruleengine.Seen, bool, error)
	SelfID(op ruleengine.Operation, state cty.Value) (graph.Decl, []graph.Decl, error)
	Digest(state cty.Value, sensitive cty.PathSet) string
	// Doc is what a rule is for, in one sentence; empty when not known.
	Doc(rule string) string
}

// Schemas finds the schema of a resource type.
type Schemas func(ctx context.Context, provider, resourceType string) (*intercept.Schema, error)

// Changes are the changes of a plan. A run without a readable plan has none;
// its calls are then known by their values alone.
type Changes interface {
	// Match gives a call the address of the change that it belongs to, empty
	// when there is none.
	Match(call intercept.Call) string
	// Operations are all calls that the plan foresees.
	Operations() []ruleengine.Operation
}

// Config is what a gatekeeper works with.
type Config struct {
	Session Session
	Engine  Engine
	View    views.View
	// Wait bounds the time behind other sessions per call.
	Wait time.Duration
	// Repeat is how often a waiting call is shown again; 0 means every ten
	// seconds.
	Repeat time.Duration
	// Logger gets what is of no use to most people; nil discards it.
	Logger *slog.Logger
}

// DefaultRepeat is how often Terraform, too, says that something goes on.
const DefaultRepeat = 10 * time.Second

// Gatekeeper admits the calls of one run.
type Gatekeeper struct {
	session Session
	engine  Engine
	view    views.View
	wait    time.Duration
	repeat  time.Duration
	log     *slog.Logger
	live    liveGraph
	keys    atomic.Uint64
	// began is the journal index known before the CLI in progress began.
	began   atomic.Uint64
	watched *observer
	ledger  ledger

	first   sync.Once
	onFirst func(ctx context.Context)
	mu      sync.Mutex
	changes Changes
	schemas Schemas
	// configs are the distinct configurations of each provider.
	configs map[string][]cty.Value
	// lives are the incarnations that the plan was made on, by node.
	lives map[graph.NodeID]uint64
}

var (
	_ intercept.Gate    = (*Gatekeeper)(nil)
	_ intercept.Watcher = (*Gatekeeper)(nil)
)

// New returns a gatekeeper; Close must be called.
func New(config Config) *Gatekeeper {
	g := &Gatekeeper{
		session: config.Session, engine: config.Engine, view: config.View,
		wait: config.Wait, repeat: config.Repeat, log: config.Logger,
		live:  liveGraph{session: config.Session},
		lives: map[graph.NodeID]uint64{}, configs: map[string][]cty.Value{},
	}
	if g.repeat <= 0 {
		g.repeat = DefaultRepeat
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	g.watched = newObserver(g)
	return g
}

// Begin is called before each start of the CLI: what its reads show is at
// least as new as the journal now.
func (g *Gatekeeper) Begin(ctx context.Context) error {
	_, index, err := g.session.Lookup(ctx)
	if err != nil {
		return err
	}
	g.began.Store(index)
	return nil
}

// Plan tells which changes the calls to come belong to.
func (g *Gatekeeper) Plan(changes Changes) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.changes = changes
	g.lives = map[graph.NodeID]uint64{}
}

// UseSchemas tells where schemas are to be had. Without them nothing is known
// of which values are secret, and so no observation is passed on.
func (g *Gatekeeper) UseSchemas(schemas Schemas) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.schemas = schemas
}

// Configs are the distinct configurations that a provider was given so far.
// They may hold secrets.
func (g *Gatekeeper) Configs(provider string) []cty.Value {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.configs[provider])
}

// Configured remembers a provider's configuration; it implements
// intercept.Watcher.
func (g *Gatekeeper) Configured(_ context.Context, provider string, config cty.Value) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, known := range g.configs[provider] {
		if known.RawEquals(config) {
			return
		}
	}
	g.configs[provider] = append(g.configs[provider], config)
}

// OnFirstCall sets what is done before the first call is judged: by then the
// providers are configured. It must be set before the CLI starts.
func (g *Gatekeeper) OnFirstCall(do func(ctx context.Context)) { g.onFirst = do }

func (g *Gatekeeper) planned() Changes {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changes
}

// forgetLife is called when this run has begun a new life of an object itself.
func (g *Gatekeeper) forgetLife(id graph.NodeID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.lives, id)
}

// Flush passes on what was observed so far.
func (g *Gatekeeper) Flush(ctx context.Context) { g.watched.flush(ctx) }

// Close passes on what was observed and stops observing. The session stays
// open.
func (g *Gatekeeper) Close(ctx context.Context) { g.watched.close(ctx) }

// Summary is what happened to the calls so far.
func (g *Gatekeeper) Summary() views.Summary { return g.ledger.summary() }

// Submitted is how many calls were put to the coordinator.
func (g *Gatekeeper) Submitted() int { return int(g.keys.Load()) }
