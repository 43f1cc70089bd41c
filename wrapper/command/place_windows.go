// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

// mayWrite cannot be told without making a file, and is taken for granted.
func mayWrite(string) error { return nil }
