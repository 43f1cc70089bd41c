// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/leak"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// apart are two workspaces with homes of their own that write one network, on a
// cloud in which that takes a while.
func apart(t *testing.T) (b *bench, alice, bob *lab.Workspace) {
	t.Helper()
	setup := lab.Setup{Cloud: fast()}
	setup.Cloud.Latencies["subnet"] = 6 * time.Second
	b = newBench(t, setup)
	if err := b.Cloud.Furnish(b.ctx, "net"); err != nil {
		t.Fatal(err)
	}
	alice = b.workspaceOf(b.Elsewhere(b.ctx, "alice", subnet("net", "a", 1)))
	bob = b.workspaceOf(b.Elsewhere(b.ctx, "bob", subnet("net", "b", 2)))
	return b, alice, bob
}

// oneAfterTheOther starts alice, and bob once she is at it, and waits for both.
func (b *bench) oneAfterTheOther(alice, bob *lab.Workspace) (first, second *lab.Run) {
	b.t.Helper()
	first = b.start(wovenFor("open the shop"), alice, "apply", "-auto-approve", "-no-color")
	b.awaitOf(first, "alice's subnet is being written", lab.Wrote("subnets", "a", activity.Accepted))
	second = b.start(woven, bob, "apply", "-auto-approve", "-no-color")
	b.wait(first, second)
	return first, second
}

// commit gives a workspace what the repository of all would have: where the
// coordinator is. The token comes from the pipeline's secrets.
func (b *bench) commit(w *lab.Workspace, s *lab.Shared) {
	b.t.Helper()
	settings := fmt.Sprintf("coordinator {\n  address = %q\n  ca_file = \"weaver-ca.pem\"\n}\n", s.Address)
	if err := errors.Join(w.Write(".tfweaver.hcl", settings), w.Write("weaver-ca.pem", s.CA)); err != nil {
		b.t.Fatal(err)
	}
	w.Env = append(w.Env, "CI=true", "TFWEAVER_TOKEN="+s.Token)
}

// startsNone fails the test if a home has a coordinator of its own.
func startsNone(t *testing.T, w *lab.Workspace) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(w.Home(), "state", "tfweaver")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s has a coordinator of its own: %v", w.Actor, err)
	}
}

// TestSharedCoordinatorMakesTwoHomesOne: two pipelines on machines of their own,
// with one coordinator on the network, work as two shells of one machine do.
func TestSharedCoordinatorMakesTwoHomesOne(t *testing.T) {
	t.Parallel()
	b, alice, bob := apart(t)
	shared, err := b.StartShared(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	b.commit(alice, shared)
	b.commit(bob, shared)
	first, second := b.oneAfterTheOther(alice, bob)
	b.succeeded(first, second)
	b.clean()
	says(t, "bob's run", second.Stderr(), `simcloud_subnet\.b waits`, "alice", "'open the shop'", `Coordinated with 1 other session on`)
	startsNone(t, alice)
	startsNone(t, bob)
	b.unchanged(alice, bob)
	b.keepsToken(shared, first, second)
}

// keepsToken fails the test if the token turns up in what the coordinator writes
// and says, or in what the runs say.
func (b *bench) keepsToken(shared *lab.Shared, runs ...*lab.Run) {
	b.t.Helper()
	if err := shared.Interrupt(); err != nil {
		b.t.Fatal(err)
	}
	b.wait(shared.Run)
	secrets := []leak.Secret{{Name: "the token", Value: shared.Token}, {Name: "the purpose", Value: "open the shop"}}
	found, _, err := leak.ScanFolder(shared.Dir, secrets)
	if err != nil {
		b.t.Error(err)
	}
	purpose := false
	for _, run := range append(runs, shared.Run) {
		found = append(found, leak.Scan("what "+run.Actor+" says", []byte(run.Said()), secrets[:1])...)
	}
	for _, f := range found {
		if purpose = purpose || f.Secret == "the purpose"; f.Secret != "the purpose" {
			b.t.Error(f)
		}
	}
	if !purpose {
		b.t.Error("the journal does not have the purpose: the scan looks in the wrong place")
	}
}

// TestSharedCoordinatorLetsNobodyElseIn: without the token, with another one, or
// without a reason to trust the certificate, nothing is sent to the cloud.
func TestSharedCoordinatorLetsNobodyElseIn(t *testing.T) {
	t.Parallel()
	b, alice, _ := apart(t)
	shared, err := b.StartShared(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	b.commit(alice, shared)
	for what, env := range map[string]string{
		"no token": "TFWEAVER_TOKEN=", "another token": "TFWEAVER_TOKEN=0123456789abcdef0123456789abcdef",
		"no certificate": "TFWEAVER_CA_FILE=" + filepath.Join(alice.Dir, "main.tf"),
	} {
		own := alice.Env
		alice.Env = append(append([]string{}, own...), env)
		refused := b.tfweaver(alice, 78, "apply", "-auto-approve", "-no-color")
		alice.Env = own
		says(t, "the refusal with "+what, refused.Stderr(), `(?i)token|certificate`)
	}
	if n := len(ofType(b.clean(), "subnets")); n != 0 {
		t.Errorf("%d subnets were written", n)
	}
	startsNone(t, alice)
}

// TestEmbeddedCoordinatorIsRefusedInCI: a coordinator of one machine would not see
// the others; the refusal says what to do, and -weaver-local is one's own word.
func TestEmbeddedCoordinatorIsRefusedInCI(t *testing.T) {
	t.Parallel()
	b, alice, bob := apart(t)
	for _, w := range []*lab.Workspace{alice, bob} {
		w.Env = append(w.Env, "CI=true")
		refused := b.tfweaver(w, 78, "apply", "-auto-approve", "-no-color")
		says(t, "the refusal", refused.Stderr(), `\.tfweaver\.hcl`, `-weaver-local`)
		startsNone(t, w)
	}
	if n := len(ofType(b.clean(), "subnets")); n != 0 {
		t.Errorf("%d subnets were written", n)
	}
	b.tfweaver(alice, 0, "apply", "-auto-approve", "-no-color", "-weaver-local")
}

// TestServeOnTheNetworkNeedsTLSAndAToken: it does not start without, and says how
// to make what is missing.
func TestServeOnTheNetworkNeedsTLSAndAToken(t *testing.T) {
	t.Parallel()
	b, alice, _ := apart(t)
	refused := b.tfweaver(alice, 78, "serve", "-listen=tcp://127.0.0.1:0", "-dir="+filepath.Join(alice.Home(), "daemon"))
	says(t, "the refusal", refused.Stderr(), "tls-cert", "tls-key", "token-file")
}

// TestTwoHomesWithoutASharedCoordinatorCollide is the control of
// TestSharedCoordinatorMakesTwoHomesOne.
func TestTwoHomesWithoutASharedCoordinatorCollide(t *testing.T) {
	t.Parallel()
	b, alice, bob := apart(t)
	_, second := b.oneAfterTheOther(alice, bob)
	if n := b.log().RefusedWith(string(arm.CodeAnotherOperationInProgress)); second.ExitCode != 1 || n == 0 {
		t.Errorf("exit code %d with %d calls refused: the scenario provokes nothing", second.ExitCode, n)
	}
}
