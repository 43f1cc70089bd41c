// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package arguments takes a tfweaver command line apart: tfweaver's own
// options, and of Terraform's exactly those that tfweaver must know to act as
// the CLI would. Everything else passes through untouched and in order.
//
// tfweaver's options may stand anywhere before "--"; they all begin with
// -weaver-, so they can never be mistaken for one of Terraform's.
package arguments
