// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// MaxSocketPath is the length in bytes of a socket's path: what the smallest
// sockaddr_un among the supported systems holds, without the closing zero.
const MaxSocketPath = 103

// scheme begins the addresses of Unix sockets.
const scheme = "unix://"

// SocketPath is the path of a unix:// address. Other addresses are refused.
func SocketPath(address string) (string, error) {
	path, ok := strings.CutPrefix(address, scheme)
	switch {
	case !ok:
		return "", fmt.Errorf("%q is not an address to listen on; use unix:///path/to/socket, or tcp://HOST:PORT with a certificate and a token", address)
	case !filepath.IsAbs(path):
		return "", fmt.Errorf("%s: the path of the socket must be absolute, as in unix:///path/to/socket", address)
	case len(path) > MaxSocketPath:
		return "", fmt.Errorf("%s: the path of a socket may have %d bytes and this has %d; use a shorter folder", address, MaxSocketPath, len(path))
	}
	return path, nil
}

// Listen opens the Unix socket of a unix:// address with mode 0600, in a folder
// that nobody else may write to (made with mode 0700 when it is missing).
// Connections of other users are dropped. A dead socket in its place is
// replaced, a live one refused. Closing the listener leaves the file; Remove
// removes it.
//
// A tcp:// address is refused with an ExposedError: see Guard.Listen.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	if OnNetwork(address) {
		return nil, &ExposedError{Address: address, Missing: "a certificate, its key and a token"}
	}
	path, err := SocketPath(address)
	if err != nil {
		return nil, err
	}
	if err := prepareFolder(path); err != nil {
		return nil, err
	}
	if err := clearDead(ctx, path); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	// A late close must not remove the socket of a successor.
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("make the socket private: %w", err), l.Close())
	}
	return &private{Listener: l}, nil
}

// prepareFolder makes the folder of a socket, or refuses the one that is there.
func prepareFolder(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the socket's folder: %w", err)
	}
	if err := CheckFolder(dir); err != nil {
		return fmt.Errorf("the socket's folder %w: listen in a folder that only you can write to, such as %s", err, suggestion(dir, path))
	}
	return nil
}

// suggestion is an address in a folder of its own, which Listen would make.
func suggestion(dir, path string) string {
	return scheme + filepath.Join(dir, "tfweaver-"+strconv.Itoa(os.Geteuid()), filepath.Base(path))
}

// clearDead removes a socket that nobody listens on any more.
func clearDead(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket && info.Mode().Type() != fs.ModeIrregular {
		return fmt.Errorf("%s is there and is no socket; remove it, or listen elsewhere", path)
	}
	dialer := net.Dialer{Timeout: time.Second}
	if conn, err := dialer.DialContext(ctx, "unix", path); err == nil {
		conn.Close()
		return fmt.Errorf("another process listens on %s", path)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove the dead socket: %w", err)
	}
	return nil
}

// private drops connections of other users.
type private struct{ net.Listener }

// Accept implements net.Listener.
func (p *private) Accept() (net.Conn, error) {
	for {
		conn, err := p.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if pid, ok := peerOf(conn); ok {
			return &local{Conn: conn, pid: pid}, nil
		}
		conn.Close()
	}
}

// local is a connection of a process of the same user and machine.
type local struct {
	net.Conn
	pid int // 0 when it is not known
}
