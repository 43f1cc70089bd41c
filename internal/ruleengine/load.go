// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

const (
	// maxPackFile bounds one file of a pack, in bytes.
	maxPackFile = 1 << 20
	// maxNesting bounds brackets within brackets: the parser recurses.
	maxNesting = 100
)

// LoadPacks reads rule packs. In each file system every folder directly below
// the root that holds *.hcl files, at any depth, is one pack; *.hcl files in
// the root itself are one more. The first pack that has a rule for a type of a
// provider speaks for it.
//
// Diagnostics name the file (see [Folder]), the range and the remedy. When they have errors
// the engine is nil: with half a pack every other plan would be wrong.
func LoadPacks(fsys ...fs.FS) (*Engine, hcl.Diagnostics) {
	var packs []*pack
	var diags hcl.Diagnostics
	for _, root := range fsys {
		folders, moreDiags := packFolders(root)
		diags = append(diags, moreDiags...)
		for _, files := range folders {
			p, moreDiags := loadPack(root, files)
			diags = append(diags, moreDiags...)
			if p != nil {
				packs = append(packs, p)
			}
		}
	}
	diags = append(diags, checkPacksTogether(packs)...)
	if diags.HasErrors() {
		return nil, diags
	}
	return newEngine(packs), diags
}

// packFolders returns the files of each pack, sorted by folder and name.
func packFolders(root fs.FS) ([][]string, hcl.Diagnostics) {
	var names []string
	byFolder := map[string][]string{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() || path.Ext(name) != ".hcl" {
			return nil
		}
		folder, _, below := strings.Cut(name, "/")
		if !below {
			folder = "."
		}
		if _, seen := byFolder[folder]; !seen {
			names = append(names, folder)
		}
		byFolder[folder] = append(byFolder[folder], name)
		return nil
	})
	if err != nil {
		return nil, hcl.Diagnostics{unreadable(fileName(root, "."), err)}
	}
	slices.Sort(names)
	var folders [][]string
	for _, name := range names {
		folders = append(folders, byFolder[name])
	}
	return folders, nil
}

// loadPack parses, decodes and checks the files of one pack.
func loadPack(root fs.FS, files []string) (*pack, hcl.Diagnostics) {
	var bodies []*hcl.File
	var diags hcl.Diagnostics
	for _, name := range files {
		file, moreDiags := parseFile(root, name)
		diags = append(diags, moreDiags...)
		if file != nil && !moreDiags.HasErrors() {
			bodies = append(bodies, file)
		}
	}
	if diags.HasErrors() {
		return nil, diags
	}
	p, moreDiags := decodePack(bodies, fileName(root, files[0]))
	return p, append(diags, moreDiags...)
}

func parseFile(root fs.FS, name string) (*hcl.File, hcl.Diagnostics) {
	src, err := readBounded(root, name)
	name = fileName(root, name)
	if err != nil {
		return nil, hcl.Diagnostics{unreadable(name, err)}
	}
	if diags := checkNesting(src, name); diags.HasErrors() {
		return nil, diags
	}
	return hclsyntax.ParseConfig(src, name, hcl.InitialPos)
}

// errTooLarge says that a file of a pack is larger than any sensible one.
var errTooLarge = errors.New("the file is larger than 1 MiB; split it")

func readBounded(root fs.FS, name string) (src []byte, err error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	src, err = io.ReadAll(io.LimitReader(f, maxPackFile+1))
	if err == nil && len(src) > maxPackFile {
		err = errTooLarge
	}
	return src, err
}

func unreadable(name string, err error) *hcl.Diagnostic {
	d := problem(hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos},
		"Rule pack cannot be read", fmt.Sprintf("Reading %s failed: %v. Check that the file is there and readable.", name, err))
	return d
}

// checkNesting refuses a file whose brackets are nested deeper than any sane
// rule, before the recursive parser sees it.
func checkNesting(src []byte, name string) hcl.Diagnostics {
	tokens, diags := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return diags
	}
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen,
			hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
			depth--
		}
		if depth > maxNesting {
			return hcl.Diagnostics{problem(t.Range, "Nested too deeply",
				fmt.Sprintf("Brackets are nested more than %d deep here. Use locals for parts of the expression.", maxNesting))}
		}
	}
	return nil
}

// checkPacksTogether finds packs that would speak for the same type twice.
func checkPacksTogether(packs []*pack) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for i, p := range packs {
		for _, q := range packs[:i] {
			diags = append(diags, checkTwoPacks(q, p)...)
		}
	}
	return diags
}

func checkTwoPacks(first, second *pack) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if first.name == second.name {
		diags = append(diags, problem(second.subject, "Duplicate pack",
			fmt.Sprintf("A pack %q is already defined at %s. Give one of them another name.", first.name, first.subject)))
	}
	if !first.provider.overlaps(second.provider) {
		return diags
	}
	for _, name := range sortedKeys(second.resources) {
		if r, ok := first.resources[name]; ok {
			diags = append(diags, problem(second.resources[name].subject, "Duplicate rule",
				fmt.Sprintf("Pack %q has a rule for %s of the same provider at %s. Remove one of them.", first.name, name, r.subject)))
		}
	}
	return diags
}

// problem is an error diagnostic.
func problem(at hcl.Range, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: at.Ptr()}
}
