// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// Given says which variables a command line has values for.
type Given struct {
	// Vars are the values of -var, VarFiles those of -var-file.
	Vars, VarFiles []string
	Env            arguments.Environment
}

// AsksForEphemeral names the ephemeral variables of the root module that the CLI
// asks for, because nobody has given them a value. Such a value is in no plan
// file, and the CLI does not ask for it again when it applies one.
//
// A file that cannot be read or understood declares and gives nothing: the CLI
// will complain about it.
func (w Workdir) AsksForEphemeral(given Given) []string {
	asked := w.ephemeral()
	if len(asked) == 0 {
		return nil
	}
	for name := range asked {
		if _, set := given.Env.Lookup("TF_VAR_" + name); set {
			delete(asked, name)
		}
	}
	for _, assignment := range given.Vars {
		name, _, _ := strings.Cut(assignment, "=")
		delete(asked, strings.TrimSpace(name))
	}
	for _, file := range append(w.automaticFiles(), given.VarFiles...) {
		for _, name := range valuesIn(under(w.Root, file)) {
			delete(asked, name)
		}
	}
	return slices.Sorted(maps.Keys(asked))
}

// ephemeral are the ephemeral variables of the root module without a default. A
// variable may be declared in several parts: override files add to it.
func (w Workdir) ephemeral() map[string]bool {
	found, withDefault := make(map[string]bool), make(map[string]bool)
	for _, file := range w.files(".tf", ".tf.json", ".tofu", ".tofu.json") {
		for _, v := range variablesIn(file) {
			found[v.name] = found[v.name] || v.ephemeral
			withDefault[v.name] = withDefault[v.name] || v.hasDefault
		}
	}
	maps.DeleteFunc(found, func(name string, ephemeral bool) bool { return !ephemeral || withDefault[name] })
	return found
}

// automaticFiles are the files whose values the CLI uses without being told.
func (w Workdir) automaticFiles() []string {
	return append(w.files(".auto.tfvars", ".auto.tfvars.json"), "terraform.tfvars", "terraform.tfvars.json")
}

// files are the paths of the root module's files with one of the endings.
func (w Workdir) files(endings ...string) []string {
	entries, err := os.ReadDir(w.Root)
	if err != nil {
		return nil
	}
	var paths []string
	for _, e := range entries {
		ends := func(ending string) bool { return strings.HasSuffix(e.Name(), ending) }
		if !e.IsDir() && slices.ContainsFunc(endings, ends) {
			paths = append(paths, filepath.Join(w.Root, e.Name()))
		}
	}
	return paths
}

// variable is a part of a variable's declaration.
type variable struct {
	name                  string
	ephemeral, hasDefault bool
}

func variablesIn(path string) []variable {
	body := parse(path)
	if body == nil {
		return nil
	}
	content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "variable", LabelNames: []string{"name"}}}})
	var all []variable
	for _, block := range content.Blocks {
		settings, _, _ := block.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "ephemeral"}, {Name: "default"}}})
		v := variable{name: block.Labels[0]}
		_, v.hasDefault = settings.Attributes["default"]
		if a := settings.Attributes["ephemeral"]; a != nil {
			value, diags := a.Expr.Value(nil)
			v.ephemeral = !diags.HasErrors() && value.RawEquals(cty.True)
		}
		all = append(all, v)
	}
	return all
}

// valuesIn are the names of the variables that a file of values sets.
func valuesIn(path string) []string {
	body := parse(path)
	if body == nil {
		return nil
	}
	values, _ := body.JustAttributes()
	return slices.Collect(maps.Keys(values))
}

// parse understands a file in either syntax; nil if there is nothing to it.
func parse(path string) hcl.Body {
	text, err := readFile(path)
	if err != nil || text == nil {
		return nil
	}
	parser := hclparse.NewParser()
	parsed := parser.ParseHCL
	if strings.HasSuffix(path, ".json") {
		parsed = parser.ParseJSON
	}
	file, _ := parsed(text, path)
	if file == nil {
		return nil
	}
	return file.Body
}
