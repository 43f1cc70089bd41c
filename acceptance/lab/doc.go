// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package lab sets up black-box experiments: a simulated cloud, the real
// Terraform or OpenTofu CLI, the real provider, tfweaver, all as processes of
// their own, in homes of their own.
//
// A [Lab] is opened once per program. It compiles the binaries into a cache
// folder, takes a private snapshot of them, and finds the CLI ([FindCLI]), which
// on a machine without one means to build OpenTofu from its Go module. An
// [Experiment] is one isolated stage within a lab: a cloud, a home in which all
// users of a machine share one coordinator, and any number of [Workspace]s, each
// with a Terraform state of its own.
//
// What happened is judged from the activity log of the cloud, never from what
// the programs under test say about themselves.
package lab
