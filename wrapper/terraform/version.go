// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/go-version"
)

// maxVersion bounds the output of the version command, in bytes.
const maxVersion = 1 << 20

// Version asks the CLI for its version. p has everything but the arguments.
func (p Process) Version(ctx context.Context) (*version.Version, error) {
	p.Args, p.Stdin = []string{"version", "-json"}, nil
	out, err := p.Output(ctx, maxVersion)
	if err != nil {
		return nil, fmt.Errorf("ask for the version: %w", err)
	}
	return parseVersion(out)
}

func parseVersion(out []byte) (*version.Version, error) {
	var answer struct {
		Version string `json:"terraform_version"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, fmt.Errorf("understand the version: %w", err)
	}
	v, err := version.NewVersion(answer.Version)
	if err != nil {
		return nil, fmt.Errorf("understand the version: %w", err)
	}
	return v, nil
}

// TakesVariablesWithPlan says whether "apply PLANFILE" of this CLI accepts
// variables: it does since there are ephemeral ones, whose values are not in
// the plan.
func TakesVariablesWithPlan(product Product, v *version.Version) bool {
	first := version.Must(version.NewVersion("1.10.0"))
	if product == OpenTofu {
		first = version.Must(version.NewVersion("1.11.0"))
	}
	return v.Core().GreaterThanOrEqual(first)
}
