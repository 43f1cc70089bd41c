// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package module reads what a configuration names without evaluating it: which
// types of resources its modules have, and which providers they come from. It is
// for telling people what a run would meet; the CLI alone knows what it means.
package module
