// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/rules"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// loadRules loads the packs that come with the program, and those of a folder
// of the user's. Rules see the environment that the providers will see.
func loadRules(folder string, env arguments.Environment) (*ruleengine.Engine, error) {
	packs := []fs.FS{ruleengine.Folder("built-in", rules.FS())}
	if folder != "" {
		info, err := os.Stat(folder)
		if err != nil {
			return nil, &rulesError{Folder: folder, Err: reasonOf(err)}
		}
		if !info.IsDir() {
			return nil, &rulesError{Folder: folder, Err: errNoFolder}
		}
		packs = append(packs, ruleengine.Folder(filepath.ToSlash(folder), ruleengine.Folder(folder, os.DirFS(folder))))
	}
	engine, diags := ruleengine.LoadPacks(packs...)
	if diags.HasErrors() {
		return nil, &packError{diags: diags}
	}
	return engine.WithEnvironment(env.Lookup), nil
}

var errNoFolder = errors.New("it is not a folder")

// reasonOf is an error of the file system without the path, which is named
// already.
func reasonOf(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
