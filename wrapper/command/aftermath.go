// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// maxList bounds the list of what is in the state, in bytes.
const maxList = 64 << 20

// importing is the beginning of a command that imports an object into the state
// of this run.
func (r *run) importing() string {
	words := append([]string{r.binary.Product.Command()}, r.inv.Global...)
	return strings.Join(append(words, "import"), " ")
}

// unanswered are the changes that the CLI has learned nothing good of, without
// what its state has all the same. A CLI that was killed may not have noted even
// what it learned.
func (r *run) unanswered(ctx context.Context, code int) []views.Unanswered {
	const killed = 128 // and the number of the signal
	list := r.gate.Unanswered(code > killed)
	if !slices.ContainsFunc(list, created) {
		return list
	}
	noted, err := r.noted(ctx)
	if err != nil {
		r.log.WarnContext(ctx, "what is in the state is not known", "error", err)
		return r.gate.Unanswered(false)
	}
	return slices.DeleteFunc(list, func(u views.Unanswered) bool { return created(u) && noted[u.Address] })
}

// created says whether there is an object that the state should have.
func created(u views.Unanswered) bool { return u.Action == string(admission.Create) && u.Exists }

// noted are the addresses of what is in the state.
func (r *run) noted(ctx context.Context) (map[string]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, goodbye)
	defer cancel()
	p := r.process()
	p.Args = append(append([]string{}, r.inv.Global...), "state", "list")
	if r.opts.State != "" {
		p.Args = append(p.Args, "-state="+r.opts.State)
	}
	p.Env = r.env.Without("TF_CLI_ARGS", arguments.ArgsVariable("state-list"))
	p.Stdin, p.Signals = nil, nil
	text, err := p.Output(ctx, maxList)
	if err != nil {
		return nil, err
	}
	noted := map[string]bool{}
	for line := range bytes.Lines(text) {
		noted[string(bytes.TrimSpace(line))] = true
	}
	return noted, nil
}
