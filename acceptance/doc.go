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
//
// What depends on chance has a command of its own that goes on for as long as one
// likes, and a few of its rounds are among the tests: acceptance/kill ends
// processes at random moments, acceptance/replace lets a replace and a destroy
// collide.
package acceptance
