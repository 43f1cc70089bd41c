// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package validation

import (
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// Wait is a time in which one call of a session waited for another session.
type Wait struct {
	Session, Address string
	From, To         time.Time
	// For is the actor in the way.
	For string
}

// waitsOf finds the waits that coordinated runs reported on their JSON output.
func waitsOf(runs []*lab.Run) ([]Wait, error) {
	return nil, nil
}
