// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// Engine is what a rule engine does for the gatekeeper.
type Engine interface {
	Lower(ctx context.Context, op ruleengine.Operation, live ruleengine.Graph) (ruleengine.Lowered, error)
	See(object ruleengine.Object) (ruleengine.Seen, bool, error)
	SelfID(op ruleengine.Operation, state cty.Value) (graph.Decl, []graph.Decl, error)
	Digest(state cty.Value, sensitive cty.PathSet) string
	// Doc is what a rule is for, in one sentence; empty when not known.
	Doc(rule string) string
	// ReadBack says how a provider with a configuration reads the object of a
	// node. The error says why it cannot be read so.
	ReadBack(provider string, config cty.Value, node graph.Decl) (ruleengine.Target, error)
	// Refusal says of a provider's errors whether they mean that the call had
	// no effect at all.
	Refusal(provider, resourceType string, texts []string) (class string, definite, known bool)
}

// Schemas finds the schema of a resource type.
type Schemas func(ctx context.Context, provider, resourceType string) (*intercept.Schema, error)

// Changes are the changes of a plan. A run without a readable plan has none;
// its calls are then known by their values alone.
type Changes interface {
	// MatchCall says which call of the plan a call is, as far as that is known.
	MatchCall(call intercept.Call) lowering.Match
	// Succeeded tells of a call that it has ended well.
	Succeeded(match lowering.Match)
	// Calls are all calls that the plan foresees.
	Calls() []lowering.PlannedCall
}

// Config is what a gatekeeper works with.
type Config struct {
	Session Session
	Engine  Engine
	View    views.View
	// Explain returns the report of any transaction, as client.Client.Explain
	// does; nil when that is not possible.
	Explain func(ctx context.Context, tx admission.TxID) (conflict.Report, admission.Status, error)
	// Wait bounds the time behind other sessions per call.
	Wait time.Duration
	// Mode is how much the run lets itself be coordinated in a realm; the realm
	// is empty when it is not known. nil, or an empty mode, is Enforce.
	Mode func(realm graph.NodeID) Mode
	// Override passes one decision by a person's word; the zero value none.
	Override Override
	// Offline lets the run go on without a coordinator that is lost in the
	// middle; otherwise it refuses what has not been sent.
	Offline bool
	// State identifies the Terraform state that the run works on; empty when it is
	// not known.
	State string
	// Import is the beginning of a command that imports an object into it, such as
	// "terraform import"; empty when there is none.
	Import string
	// Within are the sessions of the runs that started this one and wait for its
	// end, as one does whose provisioner runs tfweaver.
	Within []string
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
	config  Config
	session Session
	engine  Engine
	view    views.View
	log     *slog.Logger
	live    liveGraph
	keys    atomic.Uint64
	// entries is how many of the keys were for a state.
	entries  atomic.Uint64
	override overriding
	settler  *settler
	reads    reads
	// began is the journal index known before the CLI in progress began.
	began   atomic.Uint64
	watched *observer
	ledger  ledger
	alone   alone
	// capacity is what is said once about capacity that cannot be read.
	capacity sync.Once
	// work are outcomes that are still being found out or reported.
	work backlog

	first   sync.Once
	onFirst func(ctx context.Context)
	mu      sync.Mutex
	changes Changes
	// reservation is that of the plan, nil when it needs none.
	reservation *reservation
	// state is the turn to work on the run's state; nil when it has none.
	state Grant
	// former are reservations of plans that are not applied any more.
	former  []Grant
	schemas Schemas
	reader  Reader
	// configs are the distinct configurations of each provider.
	configs map[string][]cty.Value
	// lives are the incarnations that the plan was made on, by node.
	lives map[graph.NodeID]uint64
	// spelling are the ids of objects as the provider writes them: those of nodes
	// do not tell upper case from lower case.
	spelling map[graph.NodeID]string
	// madeAt is when a saved plan was made, on the coordinator's clock, in
	// nanoseconds since the Unix epoch; 0 for a plan of this run.
	madeAt uint64
	// ended are the calls of the plan that have ended well, alike which of
	// several calls that cannot be told apart those are.
	ended map[admission.CallID]bool
	alike map[admission.CallID]lowering.Match
}

var (
	_ intercept.Gate    = (*Gatekeeper)(nil)
	_ intercept.Watcher = (*Gatekeeper)(nil)
)

// New returns a gatekeeper; Close must be called.
func New(config Config) *Gatekeeper {
	if config.Repeat <= 0 {
		config.Repeat = DefaultRepeat
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	g := &Gatekeeper{
		config: config, session: config.Session, engine: config.Engine, view: config.View, log: config.Logger,
		live:     liveGraph{session: config.Session},
		spelling: map[graph.NodeID]string{},
		lives:    map[graph.NodeID]uint64{}, ended: map[admission.CallID]bool{}, alike: map[admission.CallID]lowering.Match{}, configs: map[string][]cty.Value{},
	}
	g.override = overriding{gate: g, word: config.Override}
	g.reads.slots = make(chan struct{}, maxReads)
	g.settler = newSettler(g)
	g.watched = newObserver(g)
	return g
}

// errUnexplained: there is no way to ask.
var errUnexplained = errors.New("the coordinator cannot be asked about it")

func (g *Gatekeeper) explain(ctx context.Context, tx admission.TxID) (conflict.Report, admission.Status, error) {
	if g.config.Explain == nil {
		return conflict.Report{}, "", errUnexplained
	}
	return g.config.Explain(ctx, tx)
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
	g.lives, g.madeAt = map[graph.NodeID]uint64{}, 0
	g.ended, g.alike = map[admission.CallID]bool{}, map[admission.CallID]lowering.Match{}
	if r := g.reservation; r != nil && r.grant != nil {
		g.former = append(g.former, r.grant)
	}
	g.reservation = nil
}

// MadeAt tells when the plan was made, where that was before this run: what has
// begun a new life since then is not what it was made for. Clocks may differ: at
// is read on this machine's.
func (g *Gatekeeper) MadeAt(ctx context.Context, at time.Time) error {
	moment, err := g.session.Moment(ctx)
	if err != nil {
		return err
	}
	made := moment.At - time.Since(at).Nanoseconds()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.madeAt = uint64(max(made, 1))
	return nil
}

// UseSchemas tells where schemas are to be had. Without them nothing is known
// of which values are secret, and so no observation is passed on.
func (g *Gatekeeper) UseSchemas(schemas Schemas) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.schemas = schemas
}

// UseReader tells how single objects are read. Without a reader nothing is
// settled, and no reading is renewed.
func (g *Gatekeeper) UseReader(reader Reader) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reader = reader
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

// Reached says whether any provider was configured through the proxies so far:
// whether the operation runs here at all.
func (g *Gatekeeper) Reached() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.configs) > 0
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

// Await waits, until ctx ends, for the outcomes that are still being found out
// or reported. It is called when the CLI has ended and the reader still works.
func (g *Gatekeeper) Await(ctx context.Context) { g.work.wait(ctx) }

// Finish is called when all calls were answered, before Summary. It waits as
// Await does, and gives the plan's reservation back. No call may be admitted
// afterwards.
func (g *Gatekeeper) Finish(ctx context.Context) {
	g.work.wait(ctx)
	g.withdraw(ctx)
	if problem, ok := g.override.unused(ctx); ok {
		g.view.Problem(problem)
	}
}

// Close passes on what was observed and stops observing and reading. The
// session stays open.
func (g *Gatekeeper) Close(ctx context.Context) {
	g.settler.close()
	g.work.stop()
	g.watched.close(ctx)
}

// Summary is what happened to the calls so far.
func (g *Gatekeeper) Summary() views.Summary {
	s := g.ledger.summary()
	s.HalfDone = g.halfDone()
	return s
}

// Submitted is how many requests for changes were put to the coordinator.
func (g *Gatekeeper) Submitted() int { return int(g.keys.Load() - g.entries.Load()) }
