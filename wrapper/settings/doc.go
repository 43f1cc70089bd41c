// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package settings reads .tfweaver.hcl: what everybody who works on one
// repository has in common, above all the coordinator that they share. The file
// is committed to the repository, so it never holds a secret, only where one is
// to be had.
package settings
