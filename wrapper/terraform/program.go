// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
)

// What a program was built from stands in it: reading it takes less than a
// millisecond, where running it takes a hundred.
const (
	terraformPackage = "github.com/hashicorp/terraform"
	openTofuPackage  = "github.com/opentofu/opentofu/cmd/tofu"
)

// builtFrom is the Go package that a program was built from; empty for any other
// program, such as a script.
func builtFrom(path string) string {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return ""
	}
	return info.Path
}

// ours says whether a program is tfweaver: the same file over links of any kind,
// or a copy, also one of another version.
func ours(path, self string) bool {
	if same(path, self) {
		return true
	}
	from := builtFrom(path)
	return from != "" && from == builtFrom(self)
}

// same says whether two paths lead to one file, also over links.
func same(a, b string) bool {
	ia, err := os.Stat(a)
	if err != nil {
		return false
	}
	ib, err := os.Stat(b)
	return err == nil && os.SameFile(ia, ib)
}

// behindWrapper is the program beside the Node.js script that the action
// setup-terraform puts in its place. The script hands no signal on, adds lines to
// what the CLI prints, and publishes the output of each call as that of the
// pipeline's step: also that of a plan with all of its values.
const behindWrapper = "terraform-bin"

// inspect says what a program is.
func inspect(path string) Binary {
	switch builtFrom(path) {
	case terraformPackage:
		return Binary{Path: path, Product: Terraform}
	case openTofuPackage:
		return Binary{Path: path, Product: OpenTofu}
	}
	for _, name := range executableNames(behindWrapper) {
		if real := filepath.Join(filepath.Dir(path), name); filepath.Base(path) != name && builtFrom(real) == terraformPackage && runnable(real) == nil {
			return Binary{Path: real, Product: Terraform}
		}
	}
	return Binary{Path: path, Product: byName(path), Guessed: true}
}

// byName goes by the name of the program that path leads to.
func byName(path string) Product {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	if strings.Contains(strings.ToLower(filepath.Base(path)), "tofu") {
		return OpenTofu
	}
	return Terraform
}
