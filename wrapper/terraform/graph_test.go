// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package terraform

import (
	"errors"
	"io"
	"testing"
)

func TestGraphIsThatOfThePlan(t *testing.T) {
	t.Parallel()
	for product, want := range map[Product]string{
		Terraform: "-chdir=x graph -type=apply -plan=a plan\n",
		OpenTofu:  "-chdir=x graph -type=apply -plan=a plan -var=s=1\n",
	} {
		var got []byte
		err := fake(t).Graph(t.Context(), product, []string{"-chdir=x"}, []string{"-var=s=1"}, "a plan", func(dot io.Reader) (err error) {
			got, err = io.ReadAll(dot)
			return err
		})
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", product, got, err, want)
		}
	}
}

func TestGraphThatFails(t *testing.T) {
	t.Parallel()
	err := fake(t).Graph(t.Context(), Terraform, nil, nil, "p", func(io.Reader) error { return nil })
	var failed *OutputError
	if !errors.As(err, &failed) || failed.ExitCode != 3 {
		t.Errorf("error %v, want what the CLI said", err)
	}
}
