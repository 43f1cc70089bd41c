// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package version holds the version of the program, set when it is linked.
package version

// Version is the released version, or the development version.
var Version = "0.1.0-dev"
