// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"cmp"
	"context"

	"github.com/hashicorp/go-version"

	"github.com/tfweaver/tfweaver/wrapper/terraform"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// identify asks the CLI for its version, and which product it is where that was
// only guessed.
func (r *run) identify(ctx context.Context) (*version.Version, error) {
	p := r.process()
	p.Signals = nil // a signal is for what the user waits for
	product, v, err := p.Identify(ctx, r.binary.Product)
	if err == nil {
		r.binary.Product, r.binary.Guessed = product, false
	}
	return v, err
}

// soon is identify while the rest goes on, unless the rest depends on the answer.
// The result waits for it.
func (r *run) soon(ctx context.Context) (func() (*version.Version, error), error) {
	if !r.binary.Guessed {
		return r.askVersion(ctx), nil
	}
	v, err := r.identify(ctx)
	return func() (*version.Version, error) { return v, nil }, err
}

// explainCLI says why there is no CLI to run. The exit code is that of a shell.
func explainCLI(e *terraform.NotFoundError) (views.Problem, int) {
	return views.Problem{Summary: "No CLI to run", Detail: sentence(e.Error())}, cmp.Or(e.ExitCode(), ExitSetup)
}
