// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/killing"
)

// TestSignalsAtRandomMoments is the other part of "make kill": each signal that can
// be caught, to the wrapper alone and as a terminal sends it.
func TestSignalsAtRandomMoments(t *testing.T) {
	t.Parallel()
	playRounds(t, 43, killing.Signals())
}
