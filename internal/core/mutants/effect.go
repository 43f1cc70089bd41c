// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"bytes"
	"errors"
	"fmt"
	"go/build"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const coreFolder = "internal/core/"

// idle says why no test can find what a patch has changed, empty if one may: a
// fault that is none would seem to survive.
func (t tree) idle(changed []string) (string, error) {
	below := slices.DeleteFunc(slices.Clone(changed), func(f string) bool { return !strings.HasPrefix(f, coreFolder) })
	if len(below) == 0 {
		return "it changes nothing below internal/core", nil
	}
	below = slices.DeleteFunc(below, func(f string) bool { return strings.HasPrefix(f, coreFolder+"mutants/") })
	if len(below) == 0 {
		return "it changes nothing below internal/core but what seeds faults", nil
	}
	for _, f := range below {
		now, err := os.ReadFile(filepath.Join(t.dir, filepath.FromSlash(f)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("compare the copy: %w", err)
		}
		if !same(f, t.files[f], now) {
			return "", nil
		}
	}
	return "it changes no code", nil
}

// same tells whether two versions of a file are built to the same. Nil is a file
// that is not there. What is neither source nor documentation is test data, or
// embedded.
func same(file string, before, after []byte) bool {
	data := slices.Contains(strings.Split(file, "/"), "testdata")
	switch {
	case !data && path.Ext(file) == ".md":
		return true
	case !data && path.Ext(file) == ".go":
		return slices.Equal(code(file, before), code(file, after))
	}
	return false
}

// code is what the compiler sees of a file: its tokens without the package
// clause, and the comments that mean something. Nil is a file that is not built
// on this system.
func code(file string, src []byte) []string {
	c := build.Default
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(src)), nil }
	if ok, err := c.MatchFile(path.Dir(file), path.Base(file)); src == nil || err == nil && !ok {
		return nil
	}
	// The comments of an example are what it has to print.
	all := strings.HasSuffix(file, "_test.go") && bytes.Contains(src, []byte("func Example"))
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile(file, -1, len(src)), src, nil, scanner.ScanComments)
	var list []string
	for {
		_, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			if len(list) <= 3 { // package, its name, and the end of the line
				return nil
			}
			return list
		case tok == token.COMMENT && !all && !directive(text):
			continue
		case closing(tok) && len(list) > 0 && (list[len(list)-1] == ";" || list[len(list)-1] == ","):
			list = list[:len(list)-1] // needed only where a line ends
		}
		if tok.IsOperator() {
			text = tok.String() // a semicolon may be the end of a line
		}
		list = append(list, text)
	}
}

func closing(t token.Token) bool { return t == token.RPAREN || t == token.RBRACE || t == token.RBRACK }

func directive(comment string) bool {
	return strings.HasPrefix(comment, "//go:") || strings.HasPrefix(comment, "// +build") || strings.HasPrefix(comment, "//line ")
}
