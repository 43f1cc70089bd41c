// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// currentName is the file that says where the leader listens.
const currentName = "current"

// Current is who leads, as the leader published it. It may have died since.
type Current struct {
	// Address is a unix:// address.
	Address string `json:"address"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Epoch   uint64 `json:"epoch"`
}

// current reads who leads; ok is false when nobody has said so.
func (o Options) current() (c Current, ok bool, err error) {
	data, err := os.ReadFile(o.path(currentName))
	if errors.Is(err, fs.ErrNotExist) {
		return c, false, nil
	}
	if err != nil {
		return c, false, fmt.Errorf("find the coordinator: %w", err)
	}
	if err := json.Unmarshal(data, &c); err != nil || c.Address == "" {
		// It is only a hint; the next leader writes it anew.
		return Current{}, false, nil
	}
	return c, true, nil
}

// publish says that c leads. Readers see the old file or the new one.
func (o Options) publish(c Current) error {
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("publish the coordinator's address: %w", err)
	}
	f, err := os.CreateTemp(o.Dir, currentName+".*")
	if err != nil {
		return fmt.Errorf("publish the coordinator's address: %w", err)
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), o.path(currentName))
	}
	if err != nil {
		return fmt.Errorf("publish the coordinator's address: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// unpublish takes back what publish said, unless it was replaced since. It is
// called while the journal is still held, so nobody else publishes meanwhile.
func (o Options) unpublish(epoch uint64) {
	if c, ok, err := o.current(); err == nil && ok && c.Epoch == epoch {
		_ = os.Remove(o.path(currentName))
	}
}

// sweep removes the sockets that killed leaders left behind. It is called by
// the leader of an epoch: all others of this state folder are dead.
func (o Options) sweep(epoch uint64) {
	own := filepath.Base(o.socket(epoch))
	entries, err := os.ReadDir(o.runtime())
	if err != nil {
		return
	}
	for _, e := range entries {
		name := e.Name()
		if name != own && strings.HasPrefix(name, o.prefix()) && strings.HasSuffix(name, ".sock") {
			_ = os.Remove(filepath.Join(o.runtime(), name))
		}
	}
}
