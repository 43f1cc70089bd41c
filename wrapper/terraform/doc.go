// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package terraform finds and runs the unmodified Terraform or OpenTofu CLI
// and knows where it keeps things: the data folder, the workspace, the
// backend.
//
// The CLI is run with the terminal, the arguments and the exit code of
// tfweaver, so that a person or a script cannot tell the difference.
package terraform
