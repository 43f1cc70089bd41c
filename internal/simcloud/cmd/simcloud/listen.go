// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
)

// errNotLocal refuses addresses that others can reach: the cloud has no
// transport security and is for one machine.
var errNotLocal = errors.New("only loopback addresses and unix sockets are served")

// listen opens the address and returns the endpoint URL to give to clients.
func listen(address string) (net.Listener, string, error) {
	if path, ok := strings.CutPrefix(address, "unix://"); ok {
		return listenUnix(path)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, "", fmt.Errorf("listen on %q: %w", address, err)
	}
	ip, err := netip.ParseAddr(host)
	if host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return nil, "", fmt.Errorf("listen on %q: %w", address, errNotLocal)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, "", fmt.Errorf("listen: %w", err)
	}
	return l, "http://" + l.Addr().String(), nil
}

// listenUnix makes a socket that only its owner may open. A socket that is
// already there is an error: it may belong to a running cloud.
func listenUnix(path string) (net.Listener, string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, "", fmt.Errorf("listen: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, "", fmt.Errorf("listen: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, "", errors.Join(fmt.Errorf("protect socket: %w", err), l.Close())
	}
	return l, "unix://" + path, nil
}

// announce writes the endpoint to a file in one step, so that whoever waits for
// the file never reads half of it.
func announce(name, endpoint string) error {
	if name == "" {
		return nil
	}
	temporary := name + ".tmp"
	if err := os.WriteFile(temporary, []byte(endpoint), 0o600); err != nil {
		return fmt.Errorf("write ready file: %w", err)
	}
	if err := os.Rename(temporary, name); err != nil {
		return fmt.Errorf("write ready file: %w", err)
	}
	return nil
}
