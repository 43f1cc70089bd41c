// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package server is the gRPC face of a coordinator.
//
// This version listens on Unix sockets only: whoever may connect is the user
// whose process it is, which the folder, the socket's mode and the kernel's
// word about the peer all make sure of.
package server
