// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package plugins

// startOf is not known here.
func startOf(int) (string, bool) { return "", false }

// runs cannot be told here.
func runs(int, string) bool { return false }
