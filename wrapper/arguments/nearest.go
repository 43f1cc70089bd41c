// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import "slices"

// ownNames are the commands that Terraform does not have.
var ownNames = [...]string{"serve", "status", "why", "locks", "report", "resolve", "doctor"}

// theirNames are the commands of Terraform and OpenTofu, of all versions.
var theirNames = [...]string{
	"apply", "console", "destroy", "env", "fmt", "force-unlock", "get", "graph", "import", "init", "login", "logout",
	"metadata", "modules", "output", "plan", "providers", "push", "query", "refresh", "rpcapi", "show", "stacks",
	"state", "taint", "test", "untaint", "validate", "version", "workspace",
}

// mostSlips is how many letters may be wrong, missing, too many or swapped in a
// command for it to be taken for a misspelt one.
const mostSlips = 2

// Misspelt is the command of tfweaver's own that was probably meant by one that
// neither it nor the CLI has; empty for none. A newer CLI may have the command
// nevertheless.
func (i Invocation) Misspelt() string {
	if i.Command == "" || own(i.Command) || slices.Contains(theirNames[:], i.Command) {
		return ""
	}
	best, meant := mostSlips+1, ""
	for _, name := range ownNames {
		if n := slips(i.Command, name); n < best && 2*n < len(name) {
			best, meant = n, name
		}
	}
	for _, name := range theirNames {
		if slips(i.Command, name) < best {
			return "" // the CLI says so itself
		}
	}
	return meant
}

// slips is the distance of two words in letters that are wrong, missing, too many, or
// swapped with the next one (optimal string alignment).
func slips(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		now := make([]int, len(b)+1)
		now[0] = i + 1
		for j := range len(b) {
			wrong := 1
			if a[i] == b[j] {
				wrong = 0
			}
			now[j+1] = min(last[j]+wrong, last[j+1]+1, now[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
		before, last = last, now
	}
	return last[len(b)]
}
