// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package statelock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A holder writes its data just after it has got the lock, so they are looked
// for more than once.
const (
	infoTries = 5
	infoPause = 50 * time.Millisecond
)

// infoFile is where both CLIs put the data of the holder of a state file's lock.
func infoFile(state string) string {
	return filepath.Join(filepath.Dir(state), "."+filepath.Base(state)+".lock.info")
}

// findLocal looks at the lock of a state file and at the data beside it.
func findLocal(ctx context.Context, state string) (Lock, error) {
	for try := 1; ; try++ {
		taken := lockOf(state)
		if taken == free {
			return Lock{}, ErrFree
		}
		lock, err := readInfo(infoFile(state))
		switch {
		case err == nil:
			return lock, nil
		case errors.Is(err, fs.ErrNotExist) && taken != held:
			return Lock{}, ErrFree
		case try == infoTries:
			return Lock{}, unknownf("Somebody holds the lock of %s, and %s does not say who: look for a terraform or tofu process on this machine.",
				filepath.Base(state), filepath.Base(infoFile(state)))
		}
		select {
		case <-time.After(infoPause):
		case <-ctx.Done():
			return Lock{}, ctx.Err()
		}
	}
}

// taken is what the system says of the lock of a file.
type taken int

const (
	// cannotTell is the answer where the system cannot be asked without taking
	// the lock.
	cannotTell taken = iota
	free
	held
)

// readInfo reads the data of a holder.
func readInfo(file string) (Lock, error) {
	f, err := os.Open(file)
	if err != nil {
		return Lock{}, fmt.Errorf("read the data of the holder: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(f, maxLock))
	if err != nil {
		return Lock{}, fmt.Errorf("read the data of the holder: %w", err)
	}
	return decode(text)
}
