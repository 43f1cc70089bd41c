// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/hcp"
	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// service is HCP Terraform for a test, and the environment in which the CLI trusts
// it and has a token for it.
func service(t *testing.T) (*hcp.Server, []string) {
	t.Helper()
	s, err := hcp.Start(shared.CLI.Version)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := s.WriteCA(ca); err != nil {
		t.Fatal(err)
	}
	return s, []string{"SSL_CERT_FILE=" + ca}
}

// cloudBlock is a configuration whose state is with a service.
func cloudBlock(s *hcp.Server, workspace string) string {
	return fmt.Sprintf(`terraform {
  cloud {
    hostname     = %q
    organization = %q
    workspaces {
      name = %q
    }
  }
}
`, s.Host(), s.Organization, workspace)
}

// clouded is a workspace with a cloud block, initialised.
func (b *bench) clouded(s *hcp.Server, env []string, name string) *lab.Workspace {
	b.t.Helper()
	w := b.workspaceOf(b.Uninitialised(name, lab.Preamble+cloudBlock(s, name)+strings.ReplaceAll(group(), "shared", name)))
	w.Env = append(slices.Clone(env), b.cliConfig(w, fmt.Sprintf("credentials %q {\n  token = %q\n}\n", s.Host(), s.Token)))
	if err := w.Init(b.ctx); err != nil {
		b.t.Fatal(err)
	}
	return w
}

// TestCloudBlockWithLocalExecution: a run here is coordinated like any other, and
// the state is with the service: planned once, approved, applied in two steps.
func TestCloudBlockWithLocalExecution(t *testing.T) {
	t.Parallel()
	s, env := service(t)
	s.Workspace("here", "local")
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.clouded(s, env, "here")
	run := b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
	for _, words := range []string{"elsewhere", "Nothing was coordinated"} {
		if strings.Contains(run.Stderr(), words) {
			t.Errorf("%q is said of a run that happened here", words)
		}
	}
	if n := locks(s); n != 2 {
		t.Errorf("the state was locked %d times; an apply in two steps locks it for the plan and for the apply", n)
	}
	if log := b.clean(); len(log.Operations) != 1 {
		t.Errorf("%d operations in the cloud, want 1", len(log.Operations))
	}
	if !strings.Contains(string(s.State("here")), "simcloud_resource_group") || s.Locked("here") {
		t.Errorf("the state with the service: locked %t, %s", s.Locked("here"), s.State("here"))
	}
	b.unchanged(w)
	b.tfweaver(w, 0, "destroy", "-auto-approve")
	b.unchangedState(s, "here")
}

// locks is how often a workspace was locked so far.
func locks(s *hcp.Server) (n int) {
	for _, r := range s.Requests() {
		if strings.HasPrefix(r, "POST ") && strings.HasSuffix(r, "/actions/lock") {
			n++
		}
	}
	return n
}

// unchangedState expects that nothing is left in a workspace's state.
func (b *bench) unchangedState(s *hcp.Server, name string) {
	b.t.Helper()
	if state := string(s.State(name)); strings.Contains(state, "simcloud_resource_group") || s.Locked(name) {
		b.t.Errorf("the state after destroy: locked %t, %s", s.Locked(name), state)
	}
}

// TestCloudBlockWithRemoteExecution: it is said before that such a run cannot be
// coordinated, and after that it was not. The token is nowhere.
func TestCloudBlockWithRemoteExecution(t *testing.T) {
	t.Parallel()
	s, env := service(t)
	s.Workspace("there", "remote")
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.clouded(s, append(env, "TFWEAVER_LOG=debug"), "there")
	run, err := w.Tfweaver(b.ctx, "apply", "-auto-approve", "-no-color")
	if err != nil {
		t.Fatal(err)
	}
	said := unwrapped(run.Stderr())
	for _, words := range []string{"This run happens elsewhere", "acme/there", `"remote"`, "run task", "Nothing was coordinated"} {
		if !strings.Contains(said, words) {
			t.Errorf("%q is not said: %s", words, said)
		}
	}
	if strings.Contains(run.Said(), s.Token) {
		t.Error("the token is shown")
	}
	if log := b.log(); len(log.Operations) != 0 {
		t.Errorf("%d operations in the cloud", len(log.Operations))
	}
	checks := b.diagnosis(w, 0)
	if c := checks["Working folder/execution"]; c.Remedy == "" || c.Facts["execution"] != "remote" {
		t.Errorf("the doctor: %+v", c)
	}
}

// TestCloudBlockNotKnown: where the service does not tell the mode, nothing is
// claimed before, and afterwards what is true: the run happened here, and was
// coordinated.
func TestCloudBlockNotKnown(t *testing.T) {
	t.Parallel()
	s, env := service(t)
	s.Workspace("unknown", "local")
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.clouded(s, env, "unknown")
	b.tfweaver(w, 0, "apply", "-auto-approve")
	if !slices.Contains(s.Requests(), "GET /api/v2/organizations/acme/workspaces/unknown") {
		t.Errorf("nobody asked for the mode: %q", s.Requests())
	}
	// Without the credentials in the place that is known they come from a helper.
	w.Env = append(slices.Clone(env), b.helperOf(w, s))
	run := b.tfweaver(w, 0, "destroy", "-auto-approve", "-no-color")
	for _, words := range []string{"elsewhere", "Nothing was coordinated"} {
		if strings.Contains(run.Stderr(), words) {
			t.Errorf("%q is said of a run that happened here", words)
		}
	}
	b.unchangedState(s, "unknown")
	if log := b.clean(); len(log.Operations) != 2 {
		t.Errorf("%d operations in the cloud, want 2", len(log.Operations))
	}
}

// cliConfig gives the runs of a workspace the lab's CLI configuration and more.
func (b *bench) cliConfig(w *lab.Workspace, more string) (env string) {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.Home(), "cli.tfrc"))
	if err != nil {
		b.t.Fatal(err)
	}
	path := filepath.Join(w.Dir, ".cli.tfrc")
	if err := os.WriteFile(path, append(text, more...), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return "TF_CLI_CONFIG_FILE=" + path
}

// helperOf moves the credentials to a program that the CLI asks for them, which
// tfweaver does not, and returns the environment that names it.
func (b *bench) helperOf(w *lab.Workspace, s *hcp.Server) string {
	b.t.Helper()
	dir := filepath.Join(w.Home(), ".terraform.d", "plugins")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\necho '{\"token\":\"%s\"}'\n", s.Token)
	if err := os.WriteFile(filepath.Join(dir, "terraform-credentials-test"), []byte(script), 0o700); err != nil {
		b.t.Fatal(err)
	}
	return b.cliConfig(w, "credentials_helper \"test\" {\n}\n")
}
