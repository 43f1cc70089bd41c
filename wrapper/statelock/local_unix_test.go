// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package statelock

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// holderEnv makes the test binary hold the lock of the file that it names, as a
// CLI does: a lock never keeps out the process that has it.
const holderEnv = "STATELOCK_TEST_HOLD"

func TestMain(m *testing.M) {
	if file := os.Getenv(holderEnv); file != "" {
		if err := hold(file); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// hold holds the lock until nobody listens any more.
func hold(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &lock); err != nil {
		return err
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
	return nil
}

// held starts a holder; end ends it.
func heldBy(t *testing.T, file string) (end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holderEnv+"="+file)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	end = func() { _ = in.Close(); _ = cmd.Wait() }
	t.Cleanup(end)
	return end
}

// TestTheHolderOfAStateFile: the lock says whether, the file beside it who. The
// file alone says nothing, as a killed CLI leaves it.
func TestTheHolderOfAStateFile(t *testing.T) {
	t.Parallel()
	w := workdir(t, `{"backend":{"type":"local","config":{"path":"deep/net.tfstate"}}}`)
	state := filepath.Join(w.Root, "deep", "net.tfstate")
	write(t, state, "{}")
	write(t, filepath.Join(w.Root, "deep", ".net.tfstate.lock.info"), alice)
	find := func() (Lock, error) { return Find(t.Context(), w, "", arguments.Environment{}) }
	if lock, err := find(); !errors.Is(err, ErrFree) {
		t.Errorf("a killed CLI still holds it: %+v, %v", lock, err)
	}
	end := heldBy(t, state)
	if lock, err := find(); err != nil || lock.Who != "alice@ticket-42" {
		t.Errorf("held: %+v, %v", lock, err)
	}
	if _, err := Find(t.Context(), w, "other.tfstate", arguments.Environment{}); !errors.Is(err, ErrFree) {
		t.Errorf("of another state: %v", err)
	}
	end()
	if lock, err := find(); !errors.Is(err, ErrFree) {
		t.Errorf("after the end of the holder: %+v, %v", lock, err)
	}
}

// TestAHolderThatSaysNothing has no data beside the state, or none to read.
func TestAHolderThatSaysNothing(t *testing.T) {
	t.Parallel()
	w := workdir(t, `{}`)
	state := filepath.Join(w.Root, "terraform.tfstate")
	heldBy(t, state)
	for _, data := range []string{"", "{"} {
		if data != "" {
			write(t, infoFile(state), data)
		}
		_, err := Find(t.Context(), w, "", arguments.Environment{})
		if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "terraform.tfstate") {
			t.Errorf("data %q: %v", data, err)
		}
	}
}
