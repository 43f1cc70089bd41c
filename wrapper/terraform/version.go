// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/go-version"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// maxVersion bounds the output of the version command, in bytes.
const maxVersion = 1 << 20

// Version asks the CLI for its version. p has everything but the arguments.
func (p Process) Version(ctx context.Context) (*version.Version, error) {
	_, v, err := p.Identify(ctx, "")
	return v, err
}

// Identify asks the CLI which version of which product it is. The product is
// guess where the answer does not tell. p has everything but the arguments. A
// program that cannot be run, or that comes back to tfweaver, is a *NotFoundError.
func (p Process) Identify(ctx context.Context, guess Product) (Product, *version.Version, error) {
	p.Args, p.Stdin = []string{"version", "-json"}, nil
	// Options for all commands are errors where one does not have them.
	p.Env = arguments.Environment(p.Env).Without("TF_CLI_ARGS", arguments.ArgsVariable("version"))
	out, err := p.Output(ctx, maxVersion)
	if comesBack(err) {
		return "", nil, &NotFoundError{Kind: ErrLoop, Path: p.Path, Remedy: loopRemedy}
	}
	if err != nil {
		return "", nil, fmt.Errorf("ask for the version: %w", Unrunnable(p.Path, err))
	}
	answer, err := parseVersion(out)
	if err != nil {
		return "", nil, &NotFoundError{Kind: err, Path: p.Path, Remedy: "set " + PathVariable + " to the path of the CLI"}
	}
	return orGuess(answer.product, guess), answer.version, nil
}

func orGuess(product, guess Product) Product {
	if product == "" {
		return guess
	}
	return product
}

// errNoVersion is what is no answer to the question for the version.
var errNoVersion = errors.New("it does not answer \"version -json\" as Terraform or OpenTofu do")

// release is what a CLI says of itself.
type release struct {
	// product is empty where nothing tells.
	product Product
	version *version.Version
}

func parseVersion(out []byte) (release, error) {
	var answer struct {
		Version  string `json:"terraform_version"`
		Platform string `json:"platform"`
		// Outdated is said by Terraform alone: OpenTofu asks nobody whether it is.
		Outdated *bool `json:"terraform_outdated"`
	}
	if err := json.NewDecoder(bytes.NewReader(Document(out))).Decode(&answer); err != nil {
		return release{}, fmt.Errorf("%w: %w", errNoVersion, err)
	}
	v, err := version.NewVersion(answer.Version)
	if err != nil {
		return release{}, fmt.Errorf("%w: %w", errNoVersion, err)
	}
	r := release{version: v}
	switch {
	case answer.Outdated != nil:
		r.product = Terraform
	case answer.Platform != "":
		r.product = OpenTofu
	}
	return r, nil
}

// Document is the JSON object in what a CLI printed: scripts that are taken for the
// CLI print lines of their own before and behind it. It is all of out where that
// is clean, or has none.
func Document(out []byte) []byte {
	from := 0
	if !bytes.HasPrefix(out, []byte("{")) {
		from = bytes.Index(out, []byte("\n{")) + 1
	}
	clean := from == 0 && bytes.HasSuffix(bytes.TrimSpace(out), []byte("}"))
	var object json.RawMessage
	if clean || json.NewDecoder(bytes.NewReader(out[from:])).Decode(&object) != nil {
		return out
	}
	return object
}

// Oldest is the oldest version of a product that tfweaver is made for: the first
// whose saved plans say all that is asked of them, errors included.
func Oldest(product Product) string {
	if product == OpenTofu {
		return "1.6.0"
	}
	return "1.5.0"
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
