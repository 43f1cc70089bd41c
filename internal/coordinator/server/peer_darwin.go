// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// peerOf asks the kernel whose process is at the other end. The administrator
// may look at everything anyway. Which process it is would be of no use here.
func peerOf(conn net.Conn) (pid int, sameUser bool) {
	raw, ok := conn.(syscall.Conn)
	if !ok {
		return 0, false
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return 0, false
	}
	var cred *unix.Xucred
	var credErr error
	err = control.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	})
	if err != nil || credErr != nil {
		return 0, false
	}
	return 0, cred.Uid == 0 || int(cred.Uid) == os.Geteuid()
}
