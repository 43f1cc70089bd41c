// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lock

import (
	"errors"
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// ErrPlan: a plan is not one that Close could have made.
var ErrPlan = errors.New("malformed lock plan")

// Validate checks that a plan is sorted, names each node once, asks for real
// modes, and holds the intention on every ancestor (invariant I3).
func (p Plan) Validate(parent func(graph.NodeID) (up graph.NodeID, ok bool)) error {
	for i, w := range p {
		if w.Mode == mode.NL || w.Mode > mode.X {
			return fmt.Errorf("%w: mode %s on %s", ErrPlan, w.Mode, w.Node)
		}
		if i > 0 && p[i-1].Node >= w.Node {
			return fmt.Errorf("%w: %s is out of order or named twice", ErrPlan, w.Node)
		}
	}
	for _, w := range p {
		up, ok := parent(w.Node)
		if !ok {
			continue
		}
		if need := mode.Intention(w.Mode); !mode.Covers(p.Mode(up), need) {
			return fmt.Errorf("%w: %s on %s needs %s on %s", ErrPlan, w.Mode, w.Node, need, up)
		}
	}
	return nil
}
