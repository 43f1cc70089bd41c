// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// TestParityForPrograms: the command lines of hashicorp/terraform-exec, which most
// programs use that run Terraform.
func TestParityForPrograms(t *testing.T) {
	t.Parallel()
	p := newTwins(t, lab.Setup{Cloud: quick(), Env: []string{
		"TF_IN_AUTOMATION=1", "TF_APPEND_USER_AGENT=HashiCorp-terraform-exec/0.26.0", "TF_INPUT=0", "TF_LOG=", "TF_LOG_CORE=", "TF_LOG_PATH=", "TF_LOG_PROVIDER=",
		"TF_DISABLE_PLUGIN_TLS=0", "TF_SKIP_PROVIDER_VERIFY=0", "CHECKPOINT_DISABLE=1", "TF_REATTACH_PROVIDERS=",
	}}, small())
	p.same(
		cli("version", "-json"),
		cli("init", "-no-color", "-input=false", "-backend=true", "-get=true", "-upgrade=false", "-force-copy"),
		cli("validate", "-no-color", "-json"),
		cli("plan", "-no-color", "-input=false", "-detailed-exitcode", "-lock-timeout=0s", "-out=p", "-lock=true", "-parallelism=10", "-refresh=true").coordinated().exits(2),
		cli("show", "-json", "-no-color", "p"), cli("show", "-no-color", "p"),
		cli("plan", "-no-color", "-input=false", "-detailed-exitcode", "-lock-timeout=0s", "-lock=true", "-parallelism=10", "-refresh=true", "-json").exits(2),
		applied("apply", "-no-color", "-auto-approve", "-input=false", "-lock=true", "-parallelism=10", "-refresh=true", "p"),
		cli("show", "-json", "-no-color"), cli("output", "-no-color", "-json"), cli("workspace", "list", "-no-color"),
		applied("apply", "-no-color", "-auto-approve", "-input=false", "-lock-timeout=0s", "-lock=true", "-parallelism=10", "-refresh=true", "-var", "team=web", "-json"),
		cli("refresh", "-no-color", "-input=false", "-lock-timeout=0s", "-lock=true"),
		cli("state", "mv", "-no-color", "-lock-timeout=0s", "-lock=true", "simcloud_virtual_network.net", "simcloud_virtual_network.moved"),
		cli("state", "rm", "-no-color", "-lock-timeout=0s", "-lock=true", "simcloud_virtual_network.moved"),
		cli("import", "-no-color", "-input=false", "-lock-timeout=0s", "-lock=true", "simcloud_virtual_network.net", cloudPrefix+"virtualNetworks/net"),
		applied("destroy", "-no-color", "-auto-approve", "-input=false", "-lock-timeout=0s", "-lock=true", "-parallelism=10", "-refresh=true"),
		applied("destroy", "-no-color", "-auto-approve", "-input=false", "-lock-timeout=0s", "-lock=true", "-parallelism=10", "-refresh=true", "-json"),
	)
}

// TestParityOfDependencies: what was installed does not fit what is written.
func TestParityOfDependencies(t *testing.T) {
	t.Parallel()
	p := newTwins(t, lab.Setup{Cloud: quick()}, small())
	all := []line{cli("plan").exits(1), applied("apply", "-auto-approve").exits(1), applied("apply").exits(1), cli("console").exits(1), cli("refresh").exits(1)}
	p.write("main.tf", strings.Replace(lab.Preamble, `"tfweaver/simcloud"`, "\"tfweaver/simcloud\"\n      version = \">= 7.0.0\"", 1)+small())
	p.same(all...)
	p.configure(small() + "module \"more\" {\n  source = \"./more\"\n}\n")
	p.write("more/main.tf", "")
	p.same(all...)
	p.configure(small())
	p.write(".terraform.lock.hcl", "")
	p.same(all...)
	p.both(func(w *twin) error { return os.Remove(filepath.Join(w.Dir, ".terraform.lock.hcl")) })
	p.same(all...)
}

// TestParityOfDevelopmentOverrides: a provider that is run from where it was
// built. The CLI warns of it, in each half of an apply.
func TestParityOfDevelopmentOverrides(t *testing.T) {
	t.Parallel()
	p := newTwins(t, lab.Setup{Cloud: quick()}, small())
	folder := t.TempDir()
	if err := os.Symlink(shared.Provider[6], filepath.Join(folder, "terraform-provider-simcloud")); err != nil {
		t.Fatal(err)
	}
	p.write("dev.tfrc", fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"tfweaver/simcloud\" = %q\n  }\n  direct {}\n}\n", filepath.ToSlash(folder)))
	p.both(func(w *twin) error { return os.RemoveAll(filepath.Join(w.Dir, ".terraform")) })
	overridden := func(l line) line {
		return l.with("TF_CLI_CONFIG_FILE=dev.tfrc").saying("development overrides are in effect")
	}
	p.same(
		overridden(cli("plan")), overridden(cli("plan", "-json")), overridden(applied("apply", "-auto-approve")).warning(), overridden(cli("plan", "-detailed-exitcode")),
		overridden(applied("apply", "-auto-approve", "-json", "-var=team=x")), overridden(cli("validate")),
	)
}

// TestParityOfProviderLogs: the lines of providers stand where the CLI puts them,
// as many and in the same form.
func TestParityOfProviderLogs(t *testing.T) {
	t.Parallel()
	p := newTwins(t, lab.Setup{Cloud: quick()}, small())
	to := filepath.Join("logs", "trace.log")
	p.write(filepath.Join("logs", "keep"), "")
	p.same(applied("apply", "-auto-approve").with("TF_LOG_PROVIDER=TRACE", "TF_LOG_PATH="+to))
	var inFile [2][]string
	n := 0
	p.both(func(w *twin) error {
		text, err := os.ReadFile(filepath.Join(w.Dir, to))
		inFile[n], n = providerLines(p.normal(w, outcome{Stderr: string(text)}).Stderr), n+1
		return err
	})
	want, got := p.run(applied("apply", "-auto-approve", "-var=team=other").with("TF_LOG_PROVIDER=TRACE"))
	for what, lines := range map[string][2][]string{"the file": inFile, "standard error": {providerLines(want.Stderr), providerLines(got.Stderr)}} {
		if len(lines[0]) == 0 {
			t.Errorf("%s: the CLI writes nothing that a provider says, so that nothing is tested", what)
		}
		if diff := cmp.Diff(lines[0], lines[1]); diff != "" {
			t.Errorf("what a provider says of its changes in %s, of terraform (-) and tfweaver (+), differs:\n%s", what, diff)
		}
	}
}

var (
	changeLogged = regexp.MustCompile(`(?m)^.*provider\.terraform-provider-simcloud.*Received (downstream response|request).*tf_rpc=ApplyResourceChange.*$`)
	drawnFields  = regexp.MustCompile(`(tf_req_id|tf_req_duration_ms|timestamp|@caller)=\S+|duration=\S+`)
)

// providerLines are the lines about changes, in an order that does not depend on
// which came first, and their fields likewise.
func providerLines(log string) []string {
	lines := changeLogged.FindAllString(log, -1)
	for n, line := range lines {
		head, fields, _ := strings.Cut(drawnFields.ReplaceAllString(line, "$1"), "Received")
		words := strings.Fields(fields)
		slices.Sort(words)
		lines[n] = head + strings.Join(words, " ")
	}
	slices.Sort(lines)
	return lines
}
