// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package rules holds the rule packs that come with the program. A pack is a
// folder of HCL files: data, not code. Package ruleengine describes the format
// and evaluates it.
package rules

import (
	"embed"
	"io/fs"
)

//go:embed simcloud/*.hcl
var packs embed.FS

// FS returns the packs, one folder per provider.
func FS() fs.FS { return packs }
