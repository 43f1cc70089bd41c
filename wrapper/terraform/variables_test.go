// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

func TestAsksForEphemeral(t *testing.T) {
	t.Parallel()
	const declared = "variable \"v\" {\n  ephemeral = true\n}\nvariable \"other\" {}\n"
	asked := []string{"v"}
	for name, c := range map[string]struct {
		files map[string]string
		given Given
		want  []string
	}{
		"nobody gives it":          {map[string]string{"main.tf": declared}, Given{}, asked},
		"only another is given":    {map[string]string{"main.tf": declared, "terraform.tfvars": "other = 1"}, Given{Vars: []string{"other=v"}, Env: arguments.Environment{"TF_VAR_other=v"}}, asked},
		"JSON":                     {map[string]string{"main.tf.json": `{"variable": {"v": {"ephemeral": true}}}`}, Given{}, asked},
		"OpenTofu's file":          {map[string]string{"main.tofu": declared}, Given{}, asked},
		"not ephemeral":            {map[string]string{"main.tf": "variable \"v\" {\n  ephemeral = false\n}\n"}, Given{}, nil},
		"default":                  {map[string]string{"main.tf": "variable \"v\" {\n  ephemeral = true\n  default = null\n}\n"}, Given{}, nil},
		"default by an override":   {map[string]string{"main.tf": declared, "v_override.tf": "variable \"v\" {\n  default = 1\n}\n"}, Given{}, nil},
		"ephemeral by an override": {map[string]string{"main.tf": "variable \"v\" {}", "override.tf": "variable \"v\" {\n  ephemeral = true\n}\n"}, Given{}, asked},
		"option":                   {map[string]string{"main.tf": declared}, Given{Vars: []string{"v=1"}}, nil},
		"environment":              {map[string]string{"main.tf": declared}, Given{Env: arguments.Environment{"TF_VAR_v="}}, nil},
		"file":                     {map[string]string{"main.tf": declared, "my.tfvars": "v = 1"}, Given{VarFiles: []string{"my.tfvars"}}, nil},
		"file that is not given":   {map[string]string{"main.tf": declared, "my.tfvars": "v = 1"}, Given{}, asked},
		"JSON file":                {map[string]string{"main.tf": declared, "my.json": `{"v": 1}`}, Given{VarFiles: []string{"my.json"}}, nil},
		"usual file":               {map[string]string{"main.tf": declared, "terraform.tfvars": "v = 1"}, Given{}, nil},
		"usual JSON file":          {map[string]string{"main.tf": declared, "terraform.tfvars.json": `{"v": 1}`}, Given{}, nil},
		"automatic file":           {map[string]string{"main.tf": declared, "a.auto.tfvars": "v = 1"}, Given{}, nil},
		"automatic JSON file":      {map[string]string{"main.tf": declared, "a.auto.tfvars.json": `{"v": 1}`}, Given{}, nil},
		"broken configuration":     {map[string]string{"main.tf": declared + "}"}, Given{}, asked},
		"nothing at all":           {nil, Given{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := Workdir{Root: t.TempDir()}
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(w.Root, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(c.want, w.AsksForEphemeral(c.given)); diff != "" {
				t.Errorf("wanted (-), got (+):\n%s", diff)
			}
		})
	}
}
