// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import "net"

// Limit is a listener that lets only so many connections be open.
func Limit(l net.Listener, connections int) net.Listener {
	return &limited{Listener: l, room: make(chan struct{}, connections)}
}
