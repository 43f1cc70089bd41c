// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux && !darwin

package server

import "net"

// sameUser relies on the access rights of the socket and its folder: this
// system does not say whose process is at the other end.
func sameUser(net.Conn) bool { return true }
