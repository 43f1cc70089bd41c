// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import "testing"

func TestBadLinkTimeSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ protocol, address string }{{"six", address}, {"7", address}, {"6", "simcloud"}} {
		if err := serve(t.Context(), c.protocol, c.address); err == nil {
			t.Errorf("protocol %q and address %q are accepted", c.protocol, c.address)
		}
	}
}
