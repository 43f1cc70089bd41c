// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Outdated says whether a provider was selected, in a version that the
// configuration does not allow any more: it was changed after the last init. The
// versions are those of the dependency lock file, by full source address.
//
// It may say so where the CLI does not, which knows more about pre-releases, and
// takes what it cannot read for no requirement.
func (w Workdir) Outdated(selected map[string]string, product Product) bool {
	for _, folder := range w.modules() {
		for _, file := range filesIn(folder, ".tf", ".tf.json", ".tofu", ".tofu.json") {
			for source, constraint := range requirementsIn(file, product) {
				if at, known := selected[source]; known && !allows(constraint, at) {
					return true
				}
			}
		}
	}
	return false
}

// allows says whether a constraint allows a version.
func allows(constraint, selected string) bool {
	c, err := version.NewConstraint(constraint)
	if err != nil {
		return false
	}
	v, err := version.NewVersion(selected)
	return err == nil && c.Check(v)
}

// modules are the folders of the root module and of those that init has installed.
func (w Workdir) modules() []string {
	folders := []string{w.Root}
	text, err := readFile(filepath.Join(w.DataDir, "modules", "modules.json"))
	if err != nil || text == nil {
		return folders
	}
	var manifest struct{ Modules []struct{ Dir string } }
	if json.Unmarshal(text, &manifest) != nil {
		return folders
	}
	for _, m := range manifest.Modules {
		if folder := under(w.Root, filepath.FromSlash(m.Dir)); folder != w.Root {
			folders = append(folders, folder)
		}
	}
	return folders
}

// filesIn are the paths of a folder's files with one of the endings.
func filesIn(folder string, endings ...string) []string {
	return Workdir{Root: folder}.files(endings...)
}

// requirementsIn are the constraints that a file puts on versions of providers, by
// full source address.
func requirementsIn(path string, product Product) map[string]string {
	// Most files have none, and understanding large ones takes a while.
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte("required_providers")) {
		return nil
	}
	body := parse(path)
	if body == nil {
		return nil
	}
	found := make(map[string]string)
	settings, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "terraform"}}})
	for _, block := range settings.Blocks {
		required, _, _ := block.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "required_providers"}}})
		for _, list := range required.Blocks {
			attributes, _ := list.Body.JustAttributes()
			for name, a := range attributes {
				if source, constraint := requirement(name, a.Expr, product); constraint != "" {
					found[source] = constraint
				}
			}
		}
	}
	return found
}

// requirement takes one entry of required_providers apart, an object or, as once,
// the constraint alone. The constraint is empty where there is none.
func requirement(name string, entry hcl.Expression, product Product) (source, constraint string) {
	source = name
	pairs, diags := hcl.ExprMap(entry)
	if diags.HasErrors() {
		return SourceAddress(source, product), text(entry)
	}
	for _, pair := range pairs {
		key := hcl.ExprAsKeyword(pair.Key)
		if key == "" {
			key = text(pair.Key)
		}
		switch key {
		case "source":
			source = text(pair.Value)
		case "version":
			constraint = text(pair.Value)
		}
	}
	return SourceAddress(source, product), constraint
}

// text is the value of an expression that is a text; else it is empty.
func text(e hcl.Expression) string {
	v, diags := e.Value(nil)
	if diags.HasErrors() || v.IsNull() || !v.IsWhollyKnown() || v.Type() != cty.String {
		return ""
	}
	return v.AsString()
}

// SourceAddress is the full form of a provider's source address, with the host and
// the namespace that are meant where they are left out.
func SourceAddress(source string, product Product) string {
	host := "registry.terraform.io"
	if product == OpenTofu {
		host = "registry.opentofu.org"
	}
	switch strings.Count(source, "/") {
	case 0:
		return host + "/hashicorp/" + source
	case 1:
		return host + "/" + source
	default:
		return source
	}
}
