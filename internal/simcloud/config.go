// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Verb is what a write does to its object.
type Verb string

// Verbs. A PUT creates what is absent and updates what is there.
const (
	Create Verb = "create"
	Update Verb = "update"
	Delete Verb = "delete"
)

// perturbation is the largest relative change of a latency by a seed: with a
// seed, a latency is multiplied by a factor in [1-perturbation, 1+perturbation).
const perturbation = 0.25

// defaultLatency is the latency of kinds that have none of their own.
const defaultLatency = time.Second

// defaultSubnetLatency and its sisters are the latencies of the paper's
// validation trace (section 5), measured there on Azure.
const (
	defaultGroupLatency   = 2200 * time.Millisecond
	defaultNetworkLatency = 5280 * time.Millisecond
	defaultSubnetLatency  = 7220 * time.Millisecond
)

// Latencies of the kinds outside the network service: round numbers in the
// order that is usual for them.
const (
	defaultMachineLatency  = 8 * time.Second
	defaultDiskLatency     = 2 * time.Second
	defaultFunctionLatency = 2 * time.Second
)

// Config describes a cloud. The zero value is a usable cloud in real time with
// default latencies, one subscription, no authentication and no throttling.
type Config struct {
	// Subscriptions are the known subscriptions; arm.DefaultSubscription if empty.
	Subscriptions []string
	// Latencies override the defaults. Keys are a kind ("subnet") for all verbs
	// or a kind and a verb ("subnet.delete"), which wins.
	Latencies map[string]time.Duration
	// Scale multiplies every latency; 0 means 1.
	Scale float64
	// Seed perturbs latencies by up to a quarter either way, the same way for the
	// same object, verb and seed whatever else happens. 0 perturbs nothing.
	Seed uint64
	// FirstCallExtra is added, scaled, to the latency of the first accepted
	// write of an actor.
	FirstCallExtra map[string]time.Duration
	// Supersede lets a write of a virtual network in while writes of its subnets
	// are in flight; those then end Canceled. Otherwise it is refused with 409.
	Supersede bool
	// WritesPerSecond is the refill rate of the token bucket each actor has; its
	// size is one second's worth, at least one. 0 means no throttling.
	WritesPerSecond float64
	// Quotas bound the virtual processors of the machines of every subscription,
	// by LOCATION for all of them together or LOCATION/FAMILY for those of one
	// family of sizes. What is not named has no bound.
	Quotas map[string]int
	// Faults are armed from the start, see Cloud.Inject.
	Faults []Fault
	// Tokens are the bearer tokens by actor. When there are any, every call must
	// carry the token of its actor.
	Tokens map[string]string
	// AdminToken opens the admin API; without it there is none.
	AdminToken string
	// Log receives the activity log; nil keeps it in memory only.
	Log io.Writer
	// LogReads also logs reads.
	LogReads bool
	// Clock drives the cloud; nil means SystemClock.
	Clock Clock
	// Logger receives operational messages; nil discards them.
	Logger *slog.Logger
}

// withDefaults checks the configuration and fills what was left out.
func (cfg Config) withDefaults() (Config, error) {
	for key, d := range cfg.Latencies {
		if err := checkLatency(key, d); err != nil {
			return cfg, err
		}
	}
	for actor, d := range cfg.FirstCallExtra {
		if d < 0 {
			return cfg, fmt.Errorf("first call extra of %s is negative: %v", actor, d)
		}
	}
	for actor, token := range cfg.Tokens {
		if actor == "" || token == "" {
			return cfg, fmt.Errorf("the token table has an empty actor or an empty token (actor %q)", actor)
		}
	}
	if cfg.Scale < 0 || cfg.WritesPerSecond < 0 {
		return cfg, fmt.Errorf("scale %v and writes per second %v must not be negative", cfg.Scale, cfg.WritesPerSecond)
	}
	quotas, err := parseQuotas(cfg.Quotas)
	if err != nil {
		return cfg, err
	}
	cfg.Quotas = quotas
	if cfg.Scale == 0 {
		cfg.Scale = 1
	}
	if len(cfg.Subscriptions) == 0 {
		cfg.Subscriptions = []string{arm.DefaultSubscription}
	}
	if cfg.Clock == nil {
		cfg.Clock = SystemClock{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	// The cloud changes its own copy through the admin API.
	cfg.Latencies = maps.Clone(cfg.Latencies)
	return cfg, nil
}

// checkLatency refuses keys that would never be looked up.
func checkLatency(key string, d time.Duration) error {
	kind, verb, hasVerb := strings.Cut(key, ".")
	if _, ok := arm.KindByKey(kind); !ok {
		return fmt.Errorf("latency %s: unknown type %q", key, kind)
	}
	if v := Verb(verb); hasVerb && v != Create && v != Update && v != Delete {
		return fmt.Errorf("latency %s: unknown verb %q", key, verb)
	}
	if d < 0 {
		return fmt.Errorf("latency %s is negative: %v", key, d)
	}
	return nil
}

// latency is how long a verb on an object takes, without first-call extra.
func (cfg Config) latency(id arm.ID, verb Verb) time.Duration {
	d := baseLatency(cfg.Latencies, id.Kind, verb)
	return scaled(d, cfg.Scale*factor(cfg.Seed, string(verb), id.Key()))
}

// firstCallExtra is the scaled and perturbed extra of an actor's first write.
func (cfg Config) firstCallExtra(actor string) time.Duration {
	return scaled(cfg.FirstCallExtra[actor], cfg.Scale*factor(cfg.Seed, "first call", actor))
}

func baseLatency(overrides map[string]time.Duration, kind arm.Kind, verb Verb) time.Duration {
	if d, ok := overrides[kind.Key()+"."+string(verb)]; ok {
		return d
	}
	if d, ok := overrides[kind.Key()]; ok {
		return d
	}
	switch kind {
	case arm.ResourceGroup:
		return defaultGroupLatency
	case arm.VirtualNetwork:
		return defaultNetworkLatency
	case arm.Subnet:
		return defaultSubnetLatency
	case arm.VirtualMachine:
		return defaultMachineLatency
	case arm.ManagedDisk:
		return defaultDiskLatency
	case arm.Function:
		return defaultFunctionLatency
	}
	return defaultLatency
}

func scaled(d time.Duration, by float64) time.Duration {
	return time.Duration(float64(d) * by)
}

// factor is 1 for seed 0, else a number in [1-perturbation, 1+perturbation) that
// depends on nothing but its arguments: policies compared under one seed meet
// the same latencies whatever the order of their calls.
func factor(seed uint64, parts ...string) float64 {
	if seed == 0 {
		return 1
	}
	return 1 + perturbation*(2*unit(seed, parts...)-1)
}

// unit is a number in [0, 1) that depends on nothing but its arguments.
func unit(seed uint64, parts ...string) float64 {
	sum := sha256.Sum256([]byte(strconv.FormatUint(seed, 10) + "\x00" + strings.Join(parts, "\x00")))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}
