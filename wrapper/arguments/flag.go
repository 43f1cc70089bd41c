// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import "strings"

// Half says to which half of a two-step apply an option goes.
type Half uint8

// The halves of a two-step apply.
const (
	// PlanHalf is "plan -out".
	PlanHalf Half = 1 << iota
	// ApplyHalf is "apply PLANFILE".
	ApplyHalf
)

// kind is what is known of one of Terraform's options.
type kind struct {
	takesValue bool
	half       Half
}

// known returns the options of the commands that run providers, of Terraform
// and OpenTofu alike. An option that is missing here may still exist: then
// tfweaver leaves the command line alone.
func known(name string) (kind, bool) {
	switch name {
	case "auto-approve":
		return kind{}, true
	case "destroy", "refresh-only", "refresh", "allow-deferral":
		return kind{half: PlanHalf}, true
	case "target", "replace", "exclude", "target-file", "exclude-file":
		return kind{takesValue: true, half: PlanHalf}, true
	case "state-out", "backup":
		return kind{takesValue: true, half: ApplyHalf}, true
	case "input", "json", "no-color", "lock", "compact-warnings", "concise",
		"show-sensitive", "consolidate-warnings", "consolidate-errors", "ignore-remote-version":
		return kind{half: PlanHalf | ApplyHalf}, true
	case "lock-timeout", "state", "parallelism", "var", "var-file":
		return kind{takesValue: true, half: PlanHalf | ApplyHalf}, true
	default:
		return knownElsewhere(name)
	}
}

// knownElsewhere returns the options that an apply does not have.
func knownElsewhere(name string) (kind, bool) {
	switch name {
	case "detailed-exitcode", "verbose", "plan", "allow-missing-config":
		return kind{}, true
	case "out", "generate-config-out", "config", "filter", "test-directory", "junit-xml", "cloud-run":
		return kind{takesValue: true}, true
	default:
		return kind{}, false
	}
}

// foreign says whether an option is one that an apply does not have.
func foreign(name string) bool {
	_, is := knownElsewhere(name)
	return is
}

// splitFlag takes -name, --name, -name=value and --name=value apart. ok is
// false for everything else; "-" and "--" are no options.
func splitFlag(arg string) (name, value string, hasValue, ok bool) {
	rest, ok := strings.CutPrefix(arg, "-")
	if !ok {
		return "", "", false, false
	}
	rest = strings.TrimPrefix(rest, "-")
	if rest == "" || rest[0] == '-' || rest[0] == '=' {
		return "", "", false, false
	}
	name, value, hasValue = strings.Cut(rest, "=")
	return name, value, hasValue, true
}

// width is how many arguments an option takes up with its value.
func width(arg string) int {
	name, _, hasValue, ok := splitFlag(arg)
	if !ok || hasValue {
		return 1
	}
	if k, isKnown := known(name); isKnown && k.takesValue {
		return 2
	}
	return 1
}
