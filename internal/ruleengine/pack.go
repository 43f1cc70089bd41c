// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/zclconf/go-cty/cty"
)

// pack is a compiled rule pack. It never changes after loading.
type pack struct {
	name, version    string
	provider         sourcePattern
	providerVersions string
	canonical        hcl.Expression // over id; nil: ids are taken as they are
	locals           []local
	tables           cty.Value // an object: what expressions see as table
	realm            realm
	terminal         hcl.Expression // for types that say nothing themselves; nil for none
	times            times
	errorCode        *regexp.Regexp // finds the code of an error, in its group codeGroup
	refusals         []*refusal
	resources        map[string]*resource
	subject          hcl.Range // of the pack block
}

// times is how long a call may go on without its sender, and how long its
// sender may go on, in nanoseconds; 0 where nothing is said.
type times struct{ lands, timeout int64 }

// or fills in what is not said.
func (t times) or(other times) times {
	return times{lands: cmp.Or(t.lands, other.lands), timeout: cmp.Or(t.timeout, other.timeout)}
}

type local struct {
	name  string
	value hcl.Expression
}

// realm says which account a configured provider works in. Its node's id is
// namespace + id, and every node's id of the pack begins with namespace.
type realm struct {
	kind      string // node type
	namespace hcl.Expression
	id        hcl.Expression
	remedy    string
}

// resource is the rule of one resource type.
type resource struct {
	name             string
	summary          string
	id               hcl.Expression
	label            hcl.Expression // the object's name within its parent; nil for none
	parent           parent
	knownAfterCreate bool
	references       []*reference
	edges            []*edge
	events           map[admission.Action]*event
	consumes         []*consumption
	buckets          []*bucket
	volatile         []string
	importID         hcl.Expression // over id; nil: the id itself
	terminal         hcl.Expression // over self; nil: as the pack says
	times            times
	refusals         []*refusal
	subject          hcl.Range
}

// parentRealm is the type of a parent that is the realm itself.
const parentRealm = "realm"

// parent says what contains an object.
type parent struct {
	kind  string         // resource type, or parentRealm
	id    hcl.Expression // over id and self; nil for the realm of the provider
	widen string         // facet of this parent that is taken when what lies below it is not known
}

// reference is a reference that objects of the type make.
type reference struct {
	name   string
	ids    hcl.Expression // one id or a collection of ids, over self
	target string         // resource type
	kind   graph.EdgeKind
	mode   mode.Mode
	facets []string
	meta   meta
}

// edge is a reference between two other objects that an object of the type
// stands for: an association.
type edge struct {
	name     string
	from, to nodeRef
	kind     graph.EdgeKind
}

// event is what an action does beyond the defaults.
type event struct {
	writes  string // the facet of the own object that is written; empty: all of it
	targets []*target
	guards  []*guard
}

// target is a node that an action takes beyond its own object.
type target struct {
	name  string
	node  nodeRef
	facet string
	mode  mode.Mode
	when  hcl.Expression
	meta  meta
}

type guard struct {
	kind admission.GuardKind
	node nodeRef
	when hcl.Expression
	meta meta
}

// meta is what is said about a rule for people and reports.
type meta struct {
	rule   string // pack/type.action#name
	class  string
	why    string
	source string
	until  string // how long the conflict lasts: "call" or "operation"
	// low is true for a rule that only shows what it would do.
	low bool
}

// Values of confidence.
const (
	confidenceHigh = "high"
	confidenceLow  = "low"
)

// Values of until.
const (
	untilCall      = "call"
	untilOperation = "operation"
)

// The conflict classes.
const (
	classInFlight   = "in_flight"
	classDependency = "dependency"
	classCapacity   = "capacity"
	classLostUpdate = "lost_update"
	className       = "name"
	classThrottle   = "throttle"
	classGuard      = "guard"
)

func classes() []string {
	return []string{classInFlight, classDependency, classCapacity, classLostUpdate, className, classThrottle, classGuard}
}

// sourcePattern matches provider source addresses: host/namespace/type, where
// * stands for any one part.
type sourcePattern [3]string

var sourcePart = regexp.MustCompile(`^(\*|[0-9A-Za-z][-0-9A-Za-z_.:]*)$`)

func parseSourcePattern(s string) (sourcePattern, error) {
	parts := strings.Split(s, "/")
	if len(parts) != len(sourcePattern{}) {
		return sourcePattern{}, fmt.Errorf("%q has %d parts where host/namespace/type has 3", s, len(parts))
	}
	for _, part := range parts {
		if !sourcePart.MatchString(part) {
			return sourcePattern{}, fmt.Errorf("%q has the part %q, which is neither a name nor *", s, part)
		}
	}
	return sourcePattern(parts), nil
}

func (p sourcePattern) match(source string) bool {
	parts := strings.Split(source, "/")
	if len(parts) != len(p) {
		return false
	}
	for i, want := range p {
		if want != "*" && !strings.EqualFold(want, parts[i]) {
			return false
		}
	}
	return true
}

// overlaps says whether one source could match both patterns.
func (p sourcePattern) overlaps(q sourcePattern) bool {
	for i := range p {
		if p[i] != "*" && q[i] != "*" && !strings.EqualFold(p[i], q[i]) {
			return false
		}
	}
	return true
}

func (p sourcePattern) String() string { return strings.Join(p[:], "/") }
