// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package embedded

import (
	"io"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDetachedHoldsNothingThatWasInherited: whoever reads the other side of a pipe
// sees its end although the detached program goes on.
func TestDetachedHoldsNothingThatWasInherited(t *testing.T) {
	t.Parallel()
	for name, detached := range map[string]bool{"detached": true, "control": false} {
		t.Run(name, func(t *testing.T) { // one after the other: they would inherit each other's
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			// As a shell hands it to this program with "3>&1".
			fd, err := unix.FcntlInt(writer.Fd(), unix.F_DUPFD, 50)
			if err != nil {
				t.Fatal(err)
			}
			if n := inherited(); n < fd-2 {
				t.Errorf("%d descriptors are inherited, want %d at least", n, fd-2)
			}
			cmd := exec.Command("sleep", "60")
			if detached {
				detach(cmd)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if err := unix.Close(fd); err != nil {
				t.Error(err)
			}
			if err := writer.Close(); err != nil {
				t.Error(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = io.Copy(io.Discard, reader) // until the last writer is gone
			}()
			if detached {
				<-ended // else the test runs out of time
			} else {
				select {
				case <-ended:
					t.Error("nobody has inherited the pipe: nothing is shown")
				default:
				}
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
			<-ended
		})
	}
}
