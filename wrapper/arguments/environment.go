// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import (
	"slices"
	"strings"
)

// Environment is a process environment in the form of os.Environ. Where a
// name is set twice the last one counts.
type Environment []string

// Get returns the value of a variable, empty when it is not set.
func (e Environment) Get(name string) string {
	v, _ := e.Lookup(name)
	return v
}

// Lookup returns the value of a variable and whether it is set.
func (e Environment) Lookup(name string) (string, bool) {
	for _, kv := range slices.Backward(e) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// With returns a copy in which name has the value.
func (e Environment) With(name, value string) Environment {
	return append(e.Without(name), name+"="+value)
}

// Without returns a copy in which none of the names is set.
func (e Environment) Without(names ...string) Environment {
	out := make(Environment, 0, len(e)+1)
	for _, kv := range e {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.Contains(names, name) {
			out = append(out, kv)
		}
	}
	return out
}
