// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command mutate derives faults from source files and writes each as a patch,
// for cmd/mutants to try.
//
// Usage:
//
//	mutate -out FOLDER [-most N] FILE...
//
// The files are named from the root of the repository, where it is to be run.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfweaver/tfweaver/internal/core/mutants"
)

func main() {
	out := flag.String("out", "", "folder to write to")
	most := flag.Int("most", 3, "how many faults of one function; 0 is all")
	flag.Parse()
	if err := run(*out, *most, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(out string, most int, files []string) error {
	if out == "" || len(files) == 0 {
		return errors.New("say where to write (-out), and which files to change")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		patches, err := mutants.Derive(filepath.ToSlash(file), src, most)
		if err != nil {
			return err
		}
		for _, p := range patches {
			if err := os.WriteFile(filepath.Join(out, p.Name+".patch"), p.Text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
