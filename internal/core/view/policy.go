// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// ErrPolicy: a policy contradicts itself or says what does not exist.
var ErrPolicy = errors.New("malformed policy")

// Level is how much a session sees that nobody has set anything for.
type Level string

// The levels. The zero value is Open.
const (
	// Open shows everything.
	Open Level = "open"
	// Confined shows a session its own objects and what is shared with it.
	Confined Level = "confined"
)

// Mode is what a share allows.
type Mode string

// The modes of a share, weakest first; each allows what those before it do.
const (
	// Read: the object and its state are shown.
	Read Mode = "read"
	// Use: the object may be referred to, and things may be created in it.
	Use Mode = "use"
	// Change: the object may be changed and deleted.
	Change Mode = "change"
)

// Parents is how much is shown of what contains a visible node.
type Parents string

// The visibility of ancestors. The zero value is Names.
const (
	// NoParents: nothing. The node stands at the top of the view, or under the
	// nearest ancestor that is visible for another reason.
	NoParents Parents = "none"
	// Names: that they are there, and their names and types.
	Names Parents = "names"
	// Full: their state too.
	Full Parents = "full"
)

// Policy says what is visible and allowed to whom. It is a value: nobody
// changes one that is in use. The zero Policy shows everything to everyone.
type Policy struct {
	// Default and Parents are for sessions that no rule picks; Parents is about
	// the ancestors of a session's own objects.
	Default Level   `json:"default,omitempty"`
	Parents Parents `json:"parents,omitempty"`
	// Rules are tried in order; the first that picks a session counts.
	Rules  []Rule  `json:"rules,omitempty"`
	Shares []Share `json:"shares,omitempty"`
	// Shown says which sessions are named to which others.
	Shown []Disclosure `json:"shown,omitempty"`
}

// Rule is the default for some sessions.
type Rule struct {
	For     []Subject `json:"for"`
	See     Level     `json:"see"`
	Parents Parents   `json:"parents,omitempty"`
}

// Share shows one node to some sessions.
type Share struct {
	Node    graph.NodeID `json:"node"`
	With    []Subject    `json:"with"`
	Mode    Mode         `json:"mode"`
	Parents Parents      `json:"parents,omitempty"`
	// Contents shares what the node contains as well, in the same mode.
	Contents bool `json:"contents,omitempty"`
}

// Disclosure names sessions to others: who they are, and what they are at. It
// shows no object.
type Disclosure struct {
	Sessions []Subject `json:"sessions"`
	To       []Subject `json:"to"`
}

// DecodePolicy reads the JSON form of a policy. What this version does not know
// is an error: a rule that is not understood must not be taken for none.
func DecodePolicy(data []byte) (Policy, error) {
	var p Policy
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return Policy{}, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Policy{}, fmt.Errorf("%w: something follows it", ErrPolicy)
	}
	return p, p.Validate()
}

// Validate says what is wrong with a policy, naming the part.
func (p Policy) Validate() error {
	if err := errors.Join(p.Default.validate(), p.Parents.validate()); err != nil {
		return err
	}
	for i, r := range p.Rules {
		if err := r.Validate(); err != nil {
			return fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	for i, x := range p.Shares {
		if err := x.Validate(); err != nil {
			return fmt.Errorf("share %d: %w", i+1, err)
		}
	}
	for i, x := range p.Shown {
		if err := errors.Join(subjects(x.Sessions), subjects(x.To)); err != nil {
			return fmt.Errorf("disclosure %d: %w", i+1, err)
		}
	}
	return nil
}

// Validate says what is wrong with a rule. It must say what is seen: what is left
// out by mistake must not open everything.
func (r Rule) Validate() error {
	if r.See == "" {
		return fmt.Errorf("%w: it does not say what is seen", ErrPolicy)
	}
	return errors.Join(subjects(r.For), r.See.validate(), r.Parents.validate())
}

// Validate says what is wrong with a share.
func (x Share) Validate() error {
	if x.Node == "" {
		return fmt.Errorf("%w: no node", ErrPolicy)
	}
	if owner, _, facet := graph.OwnerOfFacet(x.Node); facet {
		return fmt.Errorf("%w: %s is a part of %s, which is what can be shared", ErrPolicy, x.Node, owner)
	}
	if !slices.Contains([]Mode{Read, Use, Change}, x.Mode) {
		return fmt.Errorf("%w: mode %q of %s is none of read, use, change", ErrPolicy, x.Mode, x.Node)
	}
	return errors.Join(subjects(x.With), x.Parents.validate())
}

func subjects(list []Subject) error {
	if len(list) == 0 {
		return fmt.Errorf("%w: no sessions", ErrPolicy)
	}
	for i, s := range list {
		if err := s.Validate(); err != nil {
			return err
		}
		if slices.Contains(list[:i], s) {
			return fmt.Errorf("%w: %q twice", ErrPolicy, s)
		}
	}
	return nil
}

func (l Level) validate() error {
	if l == "" || l == Open || l == Confined {
		return nil
	}
	return fmt.Errorf("%w: level %q is none of open, confined", ErrPolicy, l)
}

func (v Parents) validate() error {
	if v == "" || v == NoParents || v == Names || v == Full {
		return nil
	}
	return fmt.Errorf("%w: visibility of parents %q is none of none, names, full", ErrPolicy, v)
}

// clone is an independent copy.
func (p Policy) clone() Policy {
	p.Rules, p.Shares, p.Shown = slices.Clone(p.Rules), slices.Clone(p.Shares), slices.Clone(p.Shown)
	for i := range p.Rules {
		p.Rules[i].For = slices.Clone(p.Rules[i].For)
	}
	for i := range p.Shares {
		p.Shares[i].With = slices.Clone(p.Shares[i].With)
	}
	for i := range p.Shown {
		p.Shown[i].Sessions, p.Shown[i].To = slices.Clone(p.Shown[i].Sessions), slices.Clone(p.Shown[i].To)
	}
	return p
}
