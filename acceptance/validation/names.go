// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package validation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
)

// The sessions of the workload; also the names of the folders of their
// configurations, and the actors that the cloud knows.
const (
	SessionA = "session-a"
	SessionB = "session-b"
	SessionC = "session-c"
)

// Sessions lists them in the order of their lanes.
func Sessions() []string { return []string{SessionA, SessionB, SessionC} }

// names are the names of the objects under one seed.
type names struct{ suffix string }

// namesFor gives every seed names of its own; seed 0 has the plain ones.
func namesFor(seed uint64) names {
	if seed == 0 {
		return names{}
	}
	sum := sha256.Sum256([]byte("names" + strconv.FormatUint(seed, 10)))
	return names{"-" + hex.EncodeToString(sum[:3])}
}

func (n names) network() string { return "shared" + n.suffix }
func (n names) subnetA() string { return "a" + n.suffix }

// environment hands the names to the configurations.
func (n names) environment() []string {
	return []string{fmt.Sprintf("TF_VAR_suffix=%s", n.suffix)}
}

// configuration is the folder of a session's configuration.
func configuration(module, session string) string {
	return filepath.Join(module, "examples", "three-sessions", session)
}
