// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// Sentinels that tell apart why an expression gave no text to work with.
var (
	// ErrUnknown: the value will only be known once something was applied.
	ErrUnknown = errors.New("the value is not known yet")
	// ErrSensitive: the value is known and must not leave this process in clear.
	ErrSensitive = errors.New("the value is sensitive")
	// ErrNull: the value is absent.
	ErrNull = errors.New("the value is null")
	// ErrIdentity: the value cannot be the id of a node.
	ErrIdentity = errors.New("not usable as an id")
)

// EvalError is an expression of a pack that failed on an operation's values.
type EvalError struct {
	// Rule is the resource type whose rule it is.
	Rule string
	// At is where the expression stands in the pack.
	At hcl.Range
	// Detail is why it failed; withheld when a sensitive value took part.
	Detail string
}

// Error names the rule, the place and the reason.
func (e *EvalError) Error() string {
	return fmt.Sprintf("rule for %s (%s): %s", e.Rule, e.At, e.Detail)
}

// RealmError says that it is not clear in which account a provider works, so
// that nothing it does can be placed. It wraps the reason.
type RealmError struct {
	// Pack and Provider say whose realm it is.
	Pack, Provider string
	// Remedy is what the pack's author advises.
	Remedy string
	Err    error
}

// Error names the provider, the reason and the remedy.
func (e *RealmError) Error() string {
	s := fmt.Sprintf("the realm of provider %s cannot be told: %v", e.Provider, e.Err)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Unwrap returns the reason.
func (e *RealmError) Unwrap() error { return e.Err }

// withheld says whether err only means that a value cannot be used here, as
// against an expression or a value that is wrong.
func withheld(err error) bool { return errors.Is(err, ErrUnknown) || errors.Is(err, ErrSensitive) }
