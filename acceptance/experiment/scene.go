// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package experiment

import (
	"fmt"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// The actors and what each of them wants.
const (
	Replacer  = "replacer"
	Destroyer = "destroyer"
	owner     = "owner"
)

// The purposes, as the runs state them.
const (
	replacing  = "move the machine to the new image"
	destroying = "save what the machine costs"
)

// purposeOf is what an actor states.
func purposeOf(actor string) string {
	if actor == Replacer {
		return replacing
	}
	return destroying
}

// other is the one that an actor collides with.
func other(actor string) string {
	if actor == Replacer {
		return Destroyer
	}
	return Replacer
}

// oldName is the machine that is there, newName the one that takes its place when
// it is made before the old one is deleted: two cannot have one name.
const (
	oldName = "x"
	newName = "x-next"
)

func machine(name, image, more string) string {
	return fmt.Sprintf(`resource "simcloud_virtual_machine" "x" {
  name                = %q
  resource_group_name = "shared"
  location            = "westeurope"
  size                = "Standard_D2s_v5"
  image               = %q
  %s
}
`, name, image, more)
}

// before is the machine as both states have it.
func before() string { return machine(oldName, "v1", "") }

// after is the configuration of the replacer.
func (r Round) after() string {
	if r.CreateFirst {
		return machine(newName, "v2", "lifecycle {\n    create_before_destroy = true\n  }")
	}
	return machine(oldName, "v2", "")
}

// cloud needs some time for a machine, so that runs meet.
func cloud() lab.CloudConfig {
	return lab.CloudConfig{Latencies: map[string]time.Duration{
		"resource_group": 10 * time.Millisecond, "virtual_machine": 600 * time.Millisecond,
	}}
}
