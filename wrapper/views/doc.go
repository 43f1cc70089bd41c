// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package views shows what happens during a run: to people on standard error
// in the style of the Terraform CLI, and to programs as lines of JSON among
// the ones that "terraform -json" prints. Both show the same events.
//
// Terraform writes to the same terminal. Everything here is therefore written
// in whole lines, each event in one write.
package views
