// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command tfweaver runs in place of the Terraform CLI and coordinates what
// many runs change in one cloud.
package main

import (
	"os"

	"github.com/tfweaver/tfweaver/wrapper/command"
)

func main() { os.Exit(command.Main()) }
