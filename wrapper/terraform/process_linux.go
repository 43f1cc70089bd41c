// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import "syscall"

// outliving says what becomes of the CLI when tfweaver dies: the kernel asks it to
// stop (prctl(2), PR_SET_PDEATHSIG), so that it does not go on without
// coordination, and gives its state lock back. Its providers are gone by then.
func outliving() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
