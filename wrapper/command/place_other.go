// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package command

// noExec is not known here.
func noExec(string) bool { return false }
