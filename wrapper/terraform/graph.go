// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"context"
	"fmt"
	"io"
	"slices"
)

// maxGraph bounds the output of the graph command, in bytes. The graph of a
// plan with 300 changes has about 70 kB.
const maxGraph = 256 << 20

// Graph asks the CLI for the graph that "apply PLANFILE" would walk, in the DOT
// language, and read reads it as Stream says. p has everything but the arguments;
// global are the CLI's own
// options before the command, variables those that set variables.
//
// The command asks the providers for their schemas and configures none, reads
// the state and takes no lock of it; it fails when the plan is stale. Only
// OpenTofu is given the variables, since it wants a value for those that a plan
// file does not keep; Terraform knows no such option of this command.
func (p Process) Graph(ctx context.Context, product Product, global, variables []string, plan string, read func(io.Reader) error) error {
	args := append(slices.Clone(global), "graph", "-type=apply", "-plan="+plan)
	if product == OpenTofu {
		args = append(args, variables...)
	}
	p.Args, p.Stdin = args, nil
	if err := p.Stream(ctx, maxGraph, read); err != nil {
		return fmt.Errorf("ask for the order of the plan: %w", err)
	}
	return nil
}
