// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"strings"
	"testing"
)

// TestNativeVariables: values reach the apply on every way that they can be given.
func TestNativeVariables(t *testing.T) {
	t.Parallel()
	declared := "variable \"v\" { type = list(string) }\n" + named("a", "blob = join(\",\", var.v)")
	blob := both(func(s *told, one *side) {
		if text := objectText(s, one, "a"); !strings.Contains(text, `"blob": "x,y"`) {
			s.t.Errorf("%s: the value is not in %s", one.Actor, text)
		}
	})
	tell(t,
		story{
			name: "option", over: []int{5, 6}, hcl: declared, check: blob,
			steps: []step{{args: `apply -auto-approve -var=v=["x","y"]`}}, again: `-var=v=["x","y"]`,
		},
		story{
			name: "file", hcl: declared, check: blob, files: map[string]string{"my.tfvars": `v = ["x", "y"]`},
			steps: []step{{args: "apply -auto-approve -var-file=my.tfvars"}}, again: "-var-file=my.tfvars",
		},
		story{
			name: "automatic file", hcl: declared, check: blob, steps: []step{applies},
			files: map[string]string{"my.auto.tfvars": `v = ["x", "y"]`, "terraform.tfvars": `v = ["wrong"]`},
		},
		story{
			name: "environment", hcl: declared, check: blob, steps: []step{applies},
			env: []string{`TF_VAR_v=["x", "y"]`},
		},
		story{
			name: "option over all others", hcl: declared, check: blob, env: []string{`TF_VAR_v=["wrong"]`},
			files: map[string]string{"my.auto.tfvars": `v = ["wrong"]`},
			steps: []step{{args: `apply -auto-approve -var v=["x","y"]`}}, again: `-var v=["x","y"]`,
		},
		story{
			name: "prompt", over: []int{6}, hcl: "variable \"v\" {}\n" + named("a", "blob = var.v"), check: blob, again: "-var=v=x,y",
			steps: []step{{args: "apply -auto-approve", input: "x,y\n", says: "var.v Enter a value:"}},
		},
		story{
			name: "none at all", hcl: declared, again: `-var=v=["x","y"]`, ends: 2,
			steps: []step{{args: "apply -auto-approve", code: 1, says: "No value for required variable"}},
		},
		story{
			name: "not valid", again: "-var=v=yes", ends: 2,
			hcl: `variable "v" {
  validation {
    condition     = var.v == "yes"
    error_message = "Yes must be said."
  }
}
` + named("a", "blob = var.v"),
			steps: []step{{args: "apply -auto-approve -var=v=no", code: 1, says: "Yes must be said."}},
		},
		story{
			name: "sensitive", over: []int{5}, again: "-var=v=hush-hush",
			hcl: `variable "v" { sensitive = true }
output "v" {
  value     = fx_thing.a.secret
  sensitive = true
}
` + named("a", "secret = var.v", "blob = nonsensitive(sha256(var.v))", "rule { token = var.v }"),
			steps: []step{{args: "apply -auto-approve -var=v=hush-hush", says: "v = <sensitive>"}},
			check: both(func(s *told, one *side) {
				if strings.Contains(one.said, "hush-hush") {
					s.t.Errorf("%s shows the value:\n%s", one.Actor, one.said)
				}
			}),
		},
	)
}

// TestNativeEphemeralVariables: their values are in no plan, and still reach both
// halves of an apply.
func TestNativeEphemeralVariables(t *testing.T) {
	t.Parallel()
	hcl := `variable "v" {
  ephemeral = true
}
` + named("a", "password = var.v", "password_version = 1")
	arrived := both(func(s *told, one *side) {
		if text := objectText(s, one, "a"); !strings.Contains(text, `"password": "open-sesame"`) {
			s.t.Errorf("%s: the password is not in %s", one.Actor, text)
		}
		if strings.Contains(s.state(one), "open-sesame") {
			s.t.Errorf("%s: the password is in the state", one.Actor)
		}
	})
	option := "-var=v=open-sesame"
	tell(t,
		story{name: "option", over: []int{5, 6}, hcl: hcl, check: arrived, steps: []step{{args: "apply -auto-approve " + option}}, again: option},
		story{
			name: "file", hcl: hcl, check: arrived, files: map[string]string{"my.tfvars": `v = "open-sesame"`},
			steps: []step{{args: "apply -auto-approve -var-file=my.tfvars"}}, again: option,
		},
		story{name: "environment", hcl: hcl, check: arrived, steps: []step{applies}, env: []string{"TF_VAR_v=open-sesame"}},
		story{
			name: "saved plan", hcl: hcl, check: arrived, again: option,
			steps: []step{{args: "plan -out=p " + option}, {args: "apply " + option + " p", says: "1 added"}},
		},
		story{name: "automatic file", hcl: hcl, check: arrived, steps: []step{applies}, files: map[string]string{"my.auto.tfvars": `v = "open-sesame"`}},
		story{
			name: "default", check: arrived, steps: []step{applies},
			hcl: strings.Replace(hcl, "ephemeral = true", "ephemeral = true\n  default   = \"open-sesame\"", 1),
		},
		story{
			name: "prompt", over: []int{5}, hcl: hcl, check: arrived, again: option,
			steps: []step{{args: "apply -auto-approve", input: "open-sesame\n", says: "var.v (ephemeral) Enter a value:"}},
		},
		story{
			name: "prompt of destroy", hcl: hcl, again: option, ends: 2,
			steps: []step{
				{args: "apply -auto-approve " + option},
				{args: "destroy -auto-approve", input: "open-sesame\n", says: "Destroy complete! Resources: 1 destroyed."},
			},
			check: ever("fx_thing a", "create done", "delete done"),
		},
	)
}

// TestNativeExpressions: what is evaluated anew in the apply half.
func TestNativeExpressions(t *testing.T) {
	t.Parallel()
	tell(t,
		story{
			name: "time of the apply", ticks: true, ends: 2, // as it always changes
			hcl:   "locals { now = timestamp() }\n" + named("a", "blob = local.now"),
			steps: []step{applies, {args: "apply -auto-approve"}},
			check: ever("fx_thing a", "create done", "update done"),
		},
		story{
			name: "time of the plan", ticks: true, ends: 2,
			hcl: "locals { now = plantimestamp() }\n" + named("a", "blob = local.now"), steps: []step{applies},
		},
		story{
			name: "time that is kept", hcl: "resource \"terraform_data\" \"t\" {\n  input = timestamp()\n  lifecycle { ignore_changes = [input] }\n}\n" +
				named("a", "blob = terraform_data.t.output"), steps: []step{applies},
		},
		story{
			name: "count, for_each and dynamic blocks", over: []int{5},
			hcl:   multiplied("2", `["x", "y"]`),
			steps: []step{applies, {args: "apply -auto-approve", hcl: multiplied("3", `["y", "z", "w"]`)}},
			check: ever("fx_thing x", "create done", "delete done"),
		},
	)
}

// multiplied is a configuration with many things by few blocks.
func multiplied(count, names string) string {
	return `resource "fx_thing" "counted" {
  count = ` + count + `
  name  = "n${count.index}"
  size  = count.index
}
resource "fx_thing" "each" {
  for_each = toset(` + names + `)
  name     = each.key
  dynamic "rule" {
    for_each = [for c in fx_thing.counted : c.size]
    content { port = rule.value }
  }
}
output "ids" { value = { for k, v in fx_thing.each : k => v.id } }
`
}
