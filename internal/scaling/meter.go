// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import "time"

// meter adds up the processor time that decisions take.
type meter struct {
	spent     time.Duration
	decisions int
	clock     func() time.Duration
}

func newMeter() meter { return meter{clock: processor} }

// start begins to measure one decision, and returns what ends it.
func (m *meter) start() (stop func()) {
	m.decisions++
	began := m.clock()
	return func() { m.spent += m.clock() - began }
}
