// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package embedded_test

// playMortal is played only where a process can be killed by its own signal.
func playMortal(_, _, _, _ string) int { return 2 }
