// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package journaltest

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Ordinary runs f without the superuser's right to pass over the modes of
// files, so that they mean something in every build. f must not end the test.
func Ordinary(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for ever: the thread ends with the goroutine
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var rights [2]unix.CapUserData
		if err := unix.Capget(&header, &rights[0]); err != nil {
			t.Errorf("capget: %v", err)
			return
		}
		rights[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
		if err := unix.Capset(&header, &rights[0]); err != nil {
			t.Errorf("capset: %v", err)
			return
		}
		f()
	}()
	<-done
}
