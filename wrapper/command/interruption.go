// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
)

// interruption remembers that a run was told to end. The CLI that got the signal
// may have been so near its end that its exit code does not show it; that is no
// reason to begin with the next step.
type interruption struct{ came uint32 }

// note takes a signal that was handed on to the CLI.
func (i *interruption) note(os.Signal) { atomic.StoreUint32(&i.came, 1) }

// ended is errInterrupted when the run was told to end, to the CLI or while none
// ran to take it.
func (r *run) ended() error {
	select {
	case sig := <-r.app.Signals:
		r.interruption.note(sig)
	default:
	}
	if atomic.LoadUint32(&r.interruption.came) != 0 {
		return errInterrupted
	}
	return nil
}

// brokenPipe is the exit code that shells show of a CLI whose output nobody reads
// any more: it dies of SIGPIPE.
const brokenPipe = 128 + 13

// unread says whether an output failed because its reader has gone away.
func unread(err error) bool { return errors.Is(err, syscall.EPIPE) }
