// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"fmt"
	"os"
	"path/filepath"
)

// NetworkError is a state folder on a file system that other machines share.
// There a lock may mean nothing to the others, and two coordinators would lead
// one journal.
type NetworkError struct {
	// Dir is the folder, Type the kind of file system as the system calls it.
	Dir, Type string
}

// Error names the folder, and what people can do.
func (e *NetworkError) Error() string {
	return fmt.Sprintf("the state folder %s is on a network file system (%s), on which machines do not reliably see each other's locks: "+
		"set %s to a folder on a disk of this machine, or run one coordinator for all machines with `tfweaver serve --listen` and name it in TFWEAVER_COORDINATOR",
		e.Dir, e.Type, stateVariable)
}

// fileSystem says of what type the file system of an existing folder is, and
// whether other machines share it.
type fileSystem func(dir string) (kind string, network bool, err error)

// onNetwork refuses a state folder that other machines share, be it there yet
// or not. A file system that cannot be told is taken for a local one.
func (o Options) onNetwork() error {
	dir := existing(o.Dir)
	kind, network, err := o.fileSystem(dir)
	if err != nil {
		o.Logger.Warn("cannot tell the file system", "dir", dir, "error", err)
		return nil
	}
	if !network {
		return nil
	}
	cause := &NetworkError{Dir: o.Dir, Type: kind}
	return &StartError{Reason: cause.Error(), Err: cause}
}

// existing is the nearest folder that is there already, its links resolved.
func existing(dir string) string {
	for {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			return resolved
		}
		if _, err := os.Lstat(dir); err == nil {
			return dir // a link to nowhere
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir
		}
		dir = up
	}
}
