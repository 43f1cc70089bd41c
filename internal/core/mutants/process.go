// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import "os/exec"

// begin starts a command that ends with this program. end is called once the
// command has been waited for.
func begin(cmd *exec.Cmd) (end func(), err error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if end, err = guard(cmd); err != nil {
		_ = cmd.Cancel()
		_ = cmd.Wait()
	}
	return end, err
}

// complete begins a command and waits for it.
func complete(cmd *exec.Cmd) error {
	end, err := begin(cmd)
	if err != nil {
		return err
	}
	defer end()
	return cmd.Wait()
}
