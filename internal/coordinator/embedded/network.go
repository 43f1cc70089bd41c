// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import "fmt"

// onNetwork refuses a state folder that other machines share.
func (o Options) onNetwork() error {
	remedy := fmt.Sprintf("set %s to a folder on a disk of this machine, or run one coordinator for all machines with `tfweaver serve --listen` and name it in TFWEAVER_COORDINATOR", stateVariable)
	if err := o.fileSystem.Local(o.Dir, remedy, o.Logger); err != nil {
		return &StartError{Reason: err.Error(), Err: err}
	}
	return nil
}
