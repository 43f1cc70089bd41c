// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package mode is the lattice of lock modes for multi-granularity locking
// (Gray, Lorie, Putzolu, Traiger: Granularity of Locks and Degrees of
// Consistency in a Shared Data Base, 1976; CloudWeaver, Table 1).
package mode

import "fmt"

// Mode is a lock mode on one node.
type Mode uint8

// The modes, weakest first. IX and S are not ordered among each other.
const (
	// NL holds nothing.
	NL Mode = iota
	// IS announces shared locks further down.
	IS
	// IX announces exclusive locks further down.
	IX
	// S shares the node and everything below it.
	S
	// SIX shares the node and announces exclusive locks further down.
	SIX
	// X owns the node and everything below it.
	X
)

const count = int(X) + 1

var names = [count]string{"NL", "IS", "IX", "S", "SIX", "X"}

var compatible = [count][count]bool{
	NL:  {NL: true, IS: true, IX: true, S: true, SIX: true, X: true},
	IS:  {NL: true, IS: true, IX: true, S: true, SIX: true},
	IX:  {NL: true, IS: true, IX: true},
	S:   {NL: true, IS: true, S: true},
	SIX: {NL: true, IS: true},
	X:   {NL: true},
}

// Compatible says whether two owners may hold a and b on one node together.
func Compatible(a, b Mode) bool { return compatible[a][b] }

// Sup is the weakest mode that is at least as strong as both a and b.
func Sup(a, b Mode) Mode {
	if (a == IX && b == S) || (a == S && b == IX) {
		return SIX
	}
	return max(a, b)
}

// Covers says whether holding a grants everything that b grants.
func Covers(a, b Mode) bool { return Sup(a, b) == a }

// Intention is the mode that an ancestor needs so that m may be held below it.
func Intention(m Mode) Mode {
	switch m {
	case NL:
		return NL
	case IS, S:
		return IS
	default:
		return IX
	}
}

// IsIntention says whether m only announces locks further down.
func IsIntention(m Mode) bool { return m == IS || m == IX }

// String returns the usual abbreviation of the mode.
func (m Mode) String() string {
	if int(m) < count {
		return names[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// Parse is the inverse of String.
func Parse(s string) (Mode, error) {
	for i, n := range names {
		if n == s {
			return Mode(i), nil
		}
	}
	return NL, fmt.Errorf("unknown lock mode %q", s)
}

// MarshalText writes the abbreviation, so that journals and reports stay
// readable.
func (m Mode) MarshalText() ([]byte, error) {
	if int(m) >= count {
		return nil, fmt.Errorf("lock mode %d is not one of the lattice", uint8(m))
	}
	return []byte(names[m]), nil
}

// UnmarshalText reads the abbreviation.
func (m *Mode) UnmarshalText(b []byte) error {
	v, err := Parse(string(b))
	if err != nil {
		return err
	}
	*m = v
	return nil
}
