// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"io/fs"
	"strings"
)

// Folder gives a file system the name by which people know it. LoadPacks puts
// it before the names of the files in what it says; the files of a file system
// without one are named relative to its root.
func Folder(name string, fsys fs.FS) fs.FS { return folder{FS: fsys, name: name} }

type folder struct {
	fs.FS
	name string
}

// fileName is what a file of a file system is called in front of people; "." is
// the root itself.
func fileName(root fs.FS, file string) string {
	f, named := root.(folder)
	switch {
	case !named || f.name == "":
		return file
	case file == ".":
		return f.name
	case strings.HasSuffix(f.name, "/"):
		return f.name + file
	default:
		return f.name + "/" + file
	}
}
