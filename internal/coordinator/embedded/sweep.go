// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"os"
	"path/filepath"
	"strings"
)

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
