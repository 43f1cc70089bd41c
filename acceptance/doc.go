// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package acceptance holds the black-box tests: the real Terraform or OpenTofu
// CLI, real provider processes and tfweaver against a simulated cloud, all as
// processes of their own.
//
// Where it is cheap a test first runs plain Terraform and sees the trouble that
// tfweaver is there to prevent; a scenario that harms nobody proves nothing.
// Verdicts come from the cloud's activity log. Tests that judge time run alone,
// before the parallel ones, and allow for a busy machine; package
// acceptance/measure prints the figures themselves.
package acceptance
