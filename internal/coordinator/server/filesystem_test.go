// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/coordinator/server"
)

// TestDaemonOnNetworkFileSystem: no daemon leads a journal that another machine
// may lead at the same time. Nothing is made there, neither journal nor socket.
func TestDaemonOnNetworkFileSystem(t *testing.T) {
	t.Parallel()
	base := folder(t)
	dir := filepath.Join(base, "state", "daemon")
	resolved, err := filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	err = server.Run(t.Context(), server.Config{
		Listen: "unix://" + filepath.Join(base, "s"), Dir: dir,
		FileSystem: func(asked string) (string, bool, error) { return "nfs", asked == resolved, nil },
		Ready:      func(string, uint64) error { return errors.New("it serves") },
	})
	var network *server.NetworkError
	if !errors.As(err, &network) || network.Dir != dir || network.Type != "nfs" {
		t.Fatalf("Run: %v; want an error about the network file system", err)
	}
	for _, want := range []string{dir, "nfs", "--dir", "a disk of this machine"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %s: %v", want, err)
		}
	}
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("something was made: %v, %v", left, err)
	}
}

// TestTemporaryFolderIsLocal: the system's answer is understood.
func TestTemporaryFolderIsLocal(t *testing.T) {
	t.Parallel()
	kind, network, err := server.SystemFileSystem(t.TempDir())
	if errors.Is(err, errors.ErrUnsupported) {
		t.Log("this system does not tell")
		return
	}
	if err != nil || network || kind == "" {
		t.Errorf("the folder for temporary files is on %q, network %v, %v", kind, network, err)
	}
}
