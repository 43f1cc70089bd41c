// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package command acts: it decides what a command line means and carries it
// out.
//
// Commands that change nothing in the cloud and read nothing from it are left
// to the Terraform CLI. Commands that run providers get proxies between the
// CLI and its providers. An apply without a saved plan is made in two steps,
// so that the whole plan is known to the coordinator before anything is sent.
package command
