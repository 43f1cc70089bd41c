// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/fixture/journal"
	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// TestNativeProviderConfigurations: which configuration does what.
func TestNativeProviderConfigurations(t *testing.T) {
	t.Parallel()
	east := `provider "fx" {
  alias  = "east"
  region = "east"
  token  = "for the east"
}
`
	declares := "terraform {\n  required_providers {\n    fx = {\n      source                = \"tfweaver/fx\"\n      configuration_aliases = [fx.there]\n    }\n  }\n}\n"
	tell(t,
		story{
			name: "aliases and a module with one", over: []int{5, 6},
			hcl: east + named("a") + named("b", "provider = fx.east") + `module "m" {
  source    = "./m"
  providers = { fx = fx, fx.there = fx.east }
}
`,
			files: map[string]string{"m/main.tf": declares + named("c", "provider = fx.there") + named("d")},
			steps: []step{applies, {args: "destroy -auto-approve -target=module.m", says: "2 destroyed"}, applies},
			check: regions(map[string]int{"nowhere": 2, "east": 2}),
		},
		story{
			name: "unknown when it is planned", over: []int{5, 6},
			hcl:   "resource \"terraform_data\" \"where\" { input = \"west\" }\nprovider \"fx\" { region = terraform_data.where.output }\n" + named("a", "size = 1"),
			steps: []step{applies, {args: "destroy -auto-approve"}, applies}, check: regions(map[string]int{"west": 1}),
		},
		story{
			name: "of another provider's object", over: []int{5},
			hcl: "provider \"fx\" {\n  alias = \"of_a\"\n  region = fx_thing.a.uid == \"\" ? \"none\" : \"some\"\n  token = fx_thing.a.uid\n}\n" +
				named("a") + named("b", "provider = fx.of_a"),
			steps: []step{applies}, check: regions(map[string]int{"nowhere": 1, "some": 1}),
		},
		story{
			name: "module that waits for all of another", over: []int{6}, hcl: "module \"m\" {\n  source = \"./m\"\n}\nmodule \"n\" {\n  source     = \"./n\"\n  depends_on = [module.m]\n}\n",
			files: map[string]string{
				"m/main.tf": strings.Replace(declares, "configuration_aliases", "# ", 1) + named("a", `fault = "slow"`),
				"n/main.tf": strings.Replace(declares, "configuration_aliases", "# ", 1) + named("b"),
			},
			steps: []step{applies}, check: oneAfterAnother("create a", "create b"),
		},
		story{
			name: "function", over: []int{5, 6}, hcl: named("a", `blob = provider::fx::shout("hello")`) + "output \"o\" { value = provider::fx::shout(fx_thing.a.id) }\n",
			steps: []step{{args: "apply -auto-approve", says: `o = "NOWHERE/A!"`}},
		},
		story{
			name: "data read when it is applied", over: []int{6},
			hcl: named("a", `secret = "hush"`) + "data \"fx_thing\" \"a\" {\n  name       = \"a\"\n  depends_on = [fx_thing.a]\n}\n" +
				named("b", "blob = data.fx_thing.a.uid", "secret = data.fx_thing.a.secret"),
			steps: []step{applies}, check: ever("fx_thing b", "create done"),
		},
		story{
			name: "data read when it is planned", over: []int{5}, hcl: named("a"),
			steps: []step{applies, {
				args: "apply -auto-approve", says: "2 added",
				hcl: named("a") + "data \"fx_thing\" \"a\" { name = \"a\" }\n" + named("b", "blob = data.fx_thing.a.uid") +
					"resource \"fx_thing\" \"found\" {\n  for_each = toset([data.fx_thing.a.region])\n  name     = each.key\n}\n",
			}},
		},
	)
}

// regions are how many things there must be in each region at the end.
func regions(want map[string]int) func(*told) {
	return both(func(s *told, one *side) {
		got := make(map[string]int)
		for name := range s.sight(one).Objects {
			_, id, _ := strings.Cut(name, "/")
			region, _, _ := strings.Cut(id, "%2F")
			got[region]++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			s.t.Errorf("%s: there are %v things by region, want %v", one.Actor, got, want)
		}
	})
}

// TestNativeEphemeralValues: values that exist while something is applied, and
// nowhere afterwards.
func TestNativeEphemeralValues(t *testing.T) {
	t.Parallel()
	token := func(settings string) string {
		return "ephemeral \"fx_token\" \"t\" {\n  length = 40\n  " + settings + "\n}\n"
	}
	written := func(version int) string {
		return named("a", "password = ephemeral.fx_token.t.value", fmt.Sprintf("password_version = %d", version))
	}
	tell(t,
		story{
			name: "write-only attribute", over: []int{5, 6}, hcl: named("a", `password = "open-sesame"`, "password_version = 1"),
			steps: []step{
				applies,
				{args: "apply -auto-approve", hcl: named("a", `password = "other-sesame"`, "password_version = 1"), says: "No changes."},
				{args: "apply -auto-approve", hcl: named("a", `password = "other-sesame"`, "password_version = 2"), says: "1 changed"},
			},
			check: both(func(s *told, one *side) {
				if text := objectText(s, one, "a"); !strings.Contains(text, "other-sesame") || strings.Contains(s.state(one), "-sesame") {
					s.t.Errorf("%s: the password is not in the object, or it is in the state: %s", one.Actor, text)
				}
			}),
		},
		story{
			name: "ephemeral resource", over: []int{5, 6}, hcl: token("") + written(1),
			steps: []step{applies, {args: "apply -auto-approve", hcl: token("") + written(2)}},
			check: both(func(s *told, one *side) {
				noTokenIn(s, one)
				openedAndClosed(s, one)
			}),
		},
		story{
			name: "renewed while it is used", over: []int{6}, hcl: token("renew_ms = 100") + written(1) + "resource \"terraform_data\" \"slow\" {\n  provisioner \"local-exec\" {\n    command     = \"sleep 1\"\n    environment = { TOKEN = ephemeral.fx_token.t.value }\n  }\n}\n",
			steps: []step{applies},
			check: both(func(s *told, one *side) {
				openedAndClosed(s, one)
				if counted(s.events(one), journal.Renew) == 0 {
					s.t.Errorf("%s: it was never renewed", one.Actor)
				}
			}),
		},
		story{
			name: "configures a provider", over: []int{5},
			hcl:   token("") + "provider \"fx\" {\n  alias  = \"with_token\"\n  region = \"east\"\n  token  = ephemeral.fx_token.t.value\n}\n" + named("a", "provider = fx.with_token"),
			steps: []step{applies, {args: "destroy -auto-approve"}, applies}, check: regions(map[string]int{"east": 1}),
		},
	)
}

// noTokenIn: the value is in the object, but not in the state.
func noTokenIn(s *told, one *side) {
	s.t.Helper()
	var token string
	for _, text := range randomText.FindAllString(objectText(s, one, "a"), -1) {
		if len(text) == 40 {
			token = text
		}
	}
	if token == "" {
		s.t.Errorf("%s: the token is not in the object", one.Actor)
	} else if strings.Contains(s.state(one), token) {
		s.t.Errorf("%s: the token is in the state", one.Actor)
	}
}

// openedAndClosed: whatever was opened was closed, by the process that opened it.
func openedAndClosed(s *told, one *side) {
	s.t.Helper()
	open := make(map[int]int)
	for _, e := range s.events(one) {
		switch e.What {
		case journal.Open:
			open[e.PID]++
		case journal.Close:
			open[e.PID]--
		}
	}
	for pid, n := range open {
		if n != 0 {
			s.t.Errorf("%s: process %d has closed %d fewer than it opened", one.Actor, pid, n)
		}
	}
	if len(open) == 0 {
		s.t.Errorf("%s: none was opened", one.Actor)
	}
}

// TestNativeParallelism: -parallelism bounds the changes in flight, in spite of
// the slots that tfweaver gives to those that wait.
func TestNativeParallelism(t *testing.T) {
	t.Parallel()
	hcl := "resource \"fx_thing\" \"a\" {\n  count = 60\n  name  = \"a${count.index}\"\n  fault = \"slow\"\n}\n"
	tell(t, story{
		name: "three at a time", hcl: hcl, ends: 0,
		steps: []step{{args: "apply -auto-approve -parallelism=3", says: "60 added"}},
		check: both(func(s *told, one *side) {
			if n := inFlight(s.events(one)); n != 3 {
				s.t.Errorf("%s: %d changes were in flight at once, want 3", one.Actor, n)
			}
		}),
	})
}

// inFlight is the greatest number of changes that were under way at one time.
func inFlight(events []lab.FixtureEvent) (most int) {
	now := 0
	for _, e := range events {
		switch {
		case e.IsChange():
			now++
		case e.What == journal.End:
			now--
		}
		most = max(most, now)
	}
	return most
}
