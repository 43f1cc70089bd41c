// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package gatekeeper decides whether a provider call may be sent: it lowers
// the call to locks and guards by the rule packs, asks the coordinator, waits
// where it must, and reports the outcome. It is the [intercept.Gate] of the
// provider proxy, and its [intercept.Watcher]: what refreshes show is passed
// on to the coordinator in the background.
//
// Values never leave this process. The coordinator gets ids, references and
// digests.
package gatekeeper
