// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux && !darwin

package command

// freeBytes is not known here.
func freeBytes(string) (free uint64, ok bool) { return 0, false }
