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
// may look at everything anyway. The number is 0 for a process that this one
// cannot see.
func peerOf(conn net.Conn) (pid int, sameUser bool) {
	raw, ok := conn.(syscall.Conn)
	if !ok {
		return 0, false
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return 0, false
	}
	var cred *unix.Ucred
	var credErr error
	err = control.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err != nil || credErr != nil {
		return 0, false
	}
	return int(cred.Pid), cred.Uid == 0 || int(cred.Uid) == os.Geteuid()
}
