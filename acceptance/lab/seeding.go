// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"fmt"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
	"github.com/tfweaver/tfweaver/internal/simcloud/client"
)

// Client talks to the cloud as an actor, past Terraform and tfweaver, as a
// console or a script does. Close it.
func (c *Cloud) Client(actor string) (*client.Client, error) {
	made, err := client.New(client.Config{Endpoint: c.Endpoint, Actor: actor, Token: c.tokens[actor]})
	if err != nil {
		return nil, fmt.Errorf("reach the simulated cloud: %w", err)
	}
	return made, nil
}

// Location is where all objects of experiments are.
const Location = "westeurope"

// GroupName is the resource group of all objects of experiments.
const GroupName = "shared"

// Furniture is the actor of Furnish.
const Furniture = "furniture"

// Furnish makes the resource group and networks in it, past Terraform: what was
// there before an experiment begins.
func (c *Cloud) Furnish(ctx context.Context, networks ...string) error {
	cloud, err := c.Client(Furniture)
	if err != nil {
		return err
	}
	defer cloud.Close()
	place := arm.Resource{Location: Location}
	if _, err := cloud.Put(ctx, arm.GroupID(arm.DefaultSubscription, GroupName), place, ""); err != nil {
		return fmt.Errorf("furnish the cloud: %w", err)
	}
	for _, name := range networks {
		place.Properties.AddressSpace = &arm.AddressSpace{AddressPrefixes: []string{"10.0.0.0/16"}}
		id := arm.TopID(arm.VirtualNetwork, arm.DefaultSubscription, GroupName, name)
		if _, err := cloud.Put(ctx, id, place, ""); err != nil {
			return fmt.Errorf("furnish the cloud: %w", err)
		}
	}
	return nil
}
