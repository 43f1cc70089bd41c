// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package validation repeats the preliminary validation of the CloudWeaver
// paper (section 5) with real processes.
//
// Six operations of three sessions: A creates a resource group, a virtual
// network in it and a subnet; B adds a second subnet to A's network, from a
// state of its own; C creates a resource group and a network that have nothing
// to do with A's. Both subnet writes change the one network, which the cloud
// serialises by refusing the second with 409.
//
// The workload runs under three policies, each on a fresh cloud: serial
// (terraform, one session after another), uncoordinated (terraform, all at
// once) and coordinated (tfweaver, all at once). Every [Figure] is computed
// from the activity log of the cloud alone.
package validation
