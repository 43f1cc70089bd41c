// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package experiment lets two runs collide over one virtual machine: one of them
// replaces it, the other one destroys it. Both have planned before either begins,
// so whoever comes second has planned on a machine that is not there any more.
//
// With plain Terraform both may end with exit code 0, and one of the two purposes
// is lost without a word: the machine is there although somebody destroyed it, or
// gone although somebody had just made it. Coordinated, the second one is refused
// before its first call, and is told by whom and what for.
//
// Rounds differ in the moments at which the two begin, in whether the machine is
// replaced by deleting it first or last, and in whether the plans were saved or
// wait for approval. They are judged by the log of the cloud, which tells the
// lives of an object apart.
package experiment
