// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package remote finds out where the operations of a workspace of HCP Terraform or
// Terraform Enterprise run: on this machine, where provider calls can be
// coordinated, or on another one. It asks as the CLI would, with the CLI's own
// credentials, and not knowing is an answer.
package remote
