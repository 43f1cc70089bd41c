// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package hcp is a stand-in for HCP Terraform and Terraform Enterprise: as much of
// the API as the CLI uses for a cloud block in the execution mode "local", over TLS
// with a certificate authority of its own. It keeps workspaces, their locks and
// their states in memory, and remembers what it was asked.
//
// Operations do not run on it: in the execution mode "remote" the CLI gets an error
// where a run would be created.
package hcp
