// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package mutants

import "os/exec"

func alone(*exec.Cmd) {}

func guard(*exec.Cmd) (end func(), err error) { return func() {}, nil }

func bounded() string { return "" }
