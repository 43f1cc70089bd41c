// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"strings"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Touch is what a call really works on while it is in flight: alone, or together
// with others that do not write it either.
type Touch struct {
	Key   string
	Alone bool
}

// Touches are what the creation of an object works on in the simulated cloud, by
// its documentation. Two calls exclude each other exactly if they collide. No lock
// plan has a part in it: this is what lock plans are judged by.
func Touches(o *Operation) []Touch {
	t := []Touch{{o.ID.Key(), true}}
	p := o.Body.Properties
	switch o.ID.Kind {
	case arm.Subnet:
		t = append(t, alone(parentOf(o.ID))...)
		t = append(t, alone(arm.RefID(p.NetworkSecurityGroup))...)
	case arm.SecurityRule:
		t = append(t, alone(parentOf(o.ID))...)
	case arm.NetworkInterface:
		t = append(t, together(arm.RefID(p.Subnet), arm.RefID(p.NetworkSecurityGroup), arm.RefID(p.PublicIPAddress))...)
	case arm.VirtualMachine:
		for _, r := range p.NetworkInterfaces {
			t = append(t, together(r.ID)...)
		}
		for _, r := range p.DataDisks {
			t = append(t, alone(r.ID)...)
		}
	}
	return t
}

func parentOf(id arm.ID) string {
	parent, _ := id.Parent()
	return parent.String()
}

func alone(ids ...string) []Touch { return touches(true, ids) }

func together(ids ...string) []Touch { return touches(false, ids) }

func touches(exclusive bool, ids []string) []Touch {
	var t []Touch
	for _, id := range ids {
		if id != "" {
			t = append(t, Touch{strings.ToLower(id), exclusive})
		}
	}
	return t
}

// Collide says whether two calls exclude each other.
func Collide(a, b []Touch) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Key == y.Key && (x.Alone || y.Alone) {
				return true
			}
		}
	}
	return false
}
