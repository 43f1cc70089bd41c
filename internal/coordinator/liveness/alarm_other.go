// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package liveness

import (
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
)

// alarm wakes its owner when it is rung: this system tells nothing of
// processes.
type alarm struct{ bell chan struct{} }

func newAlarm() (*alarm, error) { return &alarm{bell: make(chan struct{}, 1)}, nil }

func (a *alarm) watch(coordinator.Process) bool { return false }

func (a *alarm) forget(coordinator.Process) {}

func (a *alarm) ring() {
	select {
	case a.bell <- struct{}{}:
	default:
	}
}

func (a *alarm) wait(most time.Duration) []coordinator.Process {
	select {
	case <-a.bell:
	case <-time.After(most):
	}
	return nil
}

func (a *alarm) close() {}
