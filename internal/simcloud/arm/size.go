// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arm

import "strings"

// Size is a size of virtual machines.
type Size struct {
	Name   string
	Family string // what the quota of a family counts
	VCPUs  int
	// MaxDataDisks and MaxInterfaces bound what a machine of the size takes.
	MaxDataDisks  int
	MaxInterfaces int
}

// Sizes are the sizes the cloud offers, with the families, processors and bounds
// that Azure documents for them.
func Sizes() []Size {
	return []Size{
		{"Standard_B1s", "standardBSFamily", 1, 2, 2},
		{"Standard_B2s", "standardBSFamily", 2, 4, 3},
		{"Standard_B4ms", "standardBSFamily", 4, 8, 4},
		{"Standard_D2s_v5", "standardDSv5Family", 2, 4, 2},
		{"Standard_D4s_v5", "standardDSv5Family", 4, 8, 2},
		{"Standard_D8s_v5", "standardDSv5Family", 8, 16, 4},
		{"Standard_D16s_v5", "standardDSv5Family", 16, 32, 8},
		{"Standard_E2s_v5", "standardESv5Family", 2, 4, 2},
		{"Standard_E4s_v5", "standardESv5Family", 4, 8, 2},
		{"Standard_E8s_v5", "standardESv5Family", 8, 16, 4},
		{"Standard_F2s_v2", "standardFSv2Family", 2, 4, 2},
		{"Standard_F4s_v2", "standardFSv2Family", 4, 8, 2},
		{"Standard_F8s_v2", "standardFSv2Family", 8, 16, 4},
	}
}

// SizeByName finds a size; the cloud ignores case in its name.
func SizeByName(name string) (Size, bool) {
	for _, s := range Sizes() {
		if strings.EqualFold(s.Name, name) {
			return s, true
		}
	}
	return Size{}, false
}

// FamilyByName finds the name of a family of sizes as the cloud spells it; the
// cloud ignores case in it.
func FamilyByName(name string) (string, bool) {
	for _, s := range Sizes() {
		if strings.EqualFold(s.Family, name) {
			return s.Family, true
		}
	}
	return "", false
}
