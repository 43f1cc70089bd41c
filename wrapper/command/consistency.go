// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"io"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

// outdated says whether the CLI refuses to work because init has to be run again:
// the configuration allows other versions of providers than those that were
// selected. It does not look at that for providers that are attached to it, so it
// is asked where there is reason to. A saved plan has a configuration of its own.
func (r *run) outdated(ctx context.Context) bool {
	if r.opts.PlanFile() != "" && r.mutates() {
		return false
	}
	lock, err := plugins.ReadLockFile(r.workdir.LockFile())
	if err != nil {
		return false // there is none, or it was complained of before
	}
	selected := make(map[string]string)
	for _, e := range lock.Entries {
		selected[e.Source] = e.Version
	}
	return r.workdir.Outdated(selected, r.binary.Product) && !r.consistent(ctx)
}

// consistent lets the CLI look: the schemas of all providers are a question that
// only a consistent installation can answer, and that changes nothing.
func (r *run) consistent(ctx context.Context) bool {
	p := r.process()
	p.Args = append(append([]string{}, r.inv.Global...), "providers", "schema", "-json")
	p.Env = arguments.Environment(p.Env).Without("TF_CLI_ARGS", arguments.ArgsVariable("providers_schema"))
	p.Stdin, p.Stdout, p.Stderr = nil, io.Discard, io.Discard
	code, err := p.Run(ctx)
	return err == nil && code == 0
}
