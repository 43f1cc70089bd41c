// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// scene is one kind of work, done again and again with and without tfweaver.
type scene struct {
	name string
	// bar is the ratio of processor times that must not be exceeded; 0 for none.
	bar float64
	// hcl is the configuration below the preamble. Objects are called after the
	// variable "set", so that no two runs meet.
	hcl string
	// before are the commands that lead up to the one that is measured: each time,
	// or once, if that leaves all as it is.
	before [][]string
	once   bool
	args   []string
}

// things are objects of a type that no rule pack knows, of a provider that does
// nothing but keep them: what is left is the cost of Terraform itself.
func things(n int) string {
	return fmt.Sprintf(`resource "six_thing" "t" {
  count = %d
  name  = "${var.set}-${count.index}"
  size  = 1

  rule {
    port = 80
  }
  rule {
    port = 443
  }
}
`, n)
}

// groups are objects that the rules know: each is forecast, declared and admitted.
func groups(n int) string {
	return fmt.Sprintf(`resource "simcloud_resource_group" "g" {
  count    = %d
  name     = "${var.set}-${count.index}"
  location = "westeurope"
}
`, n)
}

// data are objects that never leave the CLI.
func data(n int) string {
	return fmt.Sprintf("resource \"terraform_data\" \"d\" {\n  count = %d\n  input = count.index\n}\n", n)
}

const setVariable = "variable \"set\" {\n  type = string\n}\n"

// scenes are all that is measured: of size many objects, and large for a plan.
func scenes(size, large int) []scene {
	apply := []string{"apply", "-auto-approve", "-no-color"}
	plan := []string{"plan", "-no-color"}
	return []scene{
		{name: "plan", bar: 1.15, hcl: things(size), args: plan},
		{name: "refresh", bar: 1.15, hcl: things(size), before: [][]string{apply}, once: true, args: []string{"plan", "-refresh-only", "-no-color"}},
		{name: "saved plan", hcl: things(size), before: [][]string{{"plan", "-no-color", "-out=p"}}, args: []string{"apply", "-no-color", "p"}},
		{name: "apply", bar: 1.40, hcl: things(size), args: apply},
		{name: "nothing to do", bar: 2, hcl: things(size), before: [][]string{apply}, once: true, args: apply},
		{name: "destroy", hcl: things(size), before: [][]string{apply}, args: []string{"destroy", "-auto-approve", "-no-color"}},
		{name: "coordinated apply", hcl: groups(size), args: apply},
		{name: "large plan", bar: 1.2, hcl: things(large), args: plan},
		{name: "large plan, built in", bar: 1.2, hcl: data(large), args: plan},
	}
}

// stage is the place where one scene is played by one of the two.
func (s scene) stage(ctx context.Context, e *lab.Experiment, actor string) (*lab.Workspace, error) {
	w, err := e.Uninitialised(actor, lab.FixturePreamble+"\n"+setVariable+s.hcl)
	if err != nil {
		return nil, err
	}
	if err := w.Init(ctx); err != nil {
		return nil, err
	}
	return w, nil
}

// afresh makes the next run of a workspace begin with an empty state and names
// that nothing has.
func afresh(w *lab.Workspace, round int) error {
	w.Env = []string{fmt.Sprintf("TF_VAR_set=%s-%d", w.Actor, round)}
	for _, name := range []string{"terraform.tfstate", "terraform.tfstate.backup", "p"} {
		if err := os.Remove(filepath.Join(w.Dir, name)); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("begin afresh: %w", err)
		}
	}
	return nil
}
