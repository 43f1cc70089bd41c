// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command terraform-provider-simcloud is the Terraform provider of the simulated
// cloud. It speaks plugin protocol 6, or 5 when it is linked with
//
//	-ldflags "-X main.protocolVersion=5"
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/tfweaver/tfweaver/internal/simcloud/provider"
	"github.com/tfweaver/tfweaver/internal/version"
)

// Set when the program is linked.
var (
	protocolVersion = "6"
	address         = "registry.terraform.io/tfweaver/simcloud"
)

func main() {
	if err := serve(context.Background(), protocolVersion, address); err != nil {
		fmt.Fprintln(os.Stderr, "terraform-provider-simcloud:", err)
		os.Exit(1)
	}
}

// serve speaks the given protocol on standard output until Terraform ends it.
func serve(ctx context.Context, protocolVersion, address string) error {
	protocol, err := strconv.Atoi(protocolVersion)
	if err != nil {
		return fmt.Errorf("protocol version: %w", err)
	}
	if err := providerserver.Serve(ctx, provider.New(version.Version), providerserver.ServeOpts{Address: address, ProtocolVersion: protocol}); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
