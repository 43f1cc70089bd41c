// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/leak"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// plant is what a test hides, and the control: a text that is meant for others,
// so that a scan that does not find it looks in the wrong place.
type plant struct {
	values  map[string]string
	control leak.Secret
}

// newPlant draws all anew. The words say in a failed test what leaked.
func newPlant() plant {
	p := plant{values: make(map[string]string)}
	for _, name := range []string{"sensitive", "plain", "token", "config", "deploy", "refused", "url"} {
		p.values[name] = name + "-" + rand.Text()
	}
	p.control = leak.Secret{Name: "the purpose", Value: "control-" + rand.Text()}
	return p
}

// secrets are what must be nowhere.
func (p plant) secrets() []leak.Secret {
	what := map[string]string{
		"sensitive": "the value of a sensitive variable", "plain": "the value of a variable that no rule names",
		"token": "the provider's credential in the environment", "config": "the provider's credential in its configuration",
		"deploy": "a setting of the actor's environment", "refused": "a value that the cloud refused and repeated",
		"url": "the password in the address of the run",
	}
	var all []leak.Secret
	for name, value := range p.values {
		all = append(all, leak.Secret{Name: what[name], Value: value})
	}
	return all
}

// bench is a cloud that asks for credentials, and runs that know all secrets and
// log as much as they can.
func (p plant) bench(t *testing.T) *bench {
	cloud := fast()
	cloud.Latencies["subnet"], cloud.Latencies["function_permission"] = 5*time.Second, 5*time.Second
	cloud.Tokens = map[string]string{lab.Furniture: rand.Text(), "victim": p.values["config"]}
	for _, actor := range []string{"alice", "bob", "carol", "rival"} {
		cloud.Tokens[actor] = p.values["token"] + actor
	}
	b := newBench(t, lab.Setup{Cloud: cloud, Env: []string{
		"TF_VAR_sensitive=" + p.values["sensitive"], "TF_VAR_plain=" + p.values["plain"], "DEPLOY_KEY=" + p.values["deploy"],
		"TFWEAVER_RUN_URL=https://robot:" + p.values["url"] + "@ci.example.com/runs/7",
		"TFWEAVER_LOG=debug", "TF_LOG_PROVIDER=TRACE",
	}})
	if err := b.Cloud.Furnish(b.ctx, "net"); err != nil {
		t.Fatal(err)
	}
	return b
}

// variables are those that the configurations below use.
const variables = `variable "sensitive" {
  type      = string
  sensitive = true
}

variable "plain" {
  type = string
}
`

// secretFunction has values of variables where no rule names them.
func secretFunction(name string) string {
	return fmt.Sprintf(`resource "simcloud_function" "%[1]s" {
  name                = "%[1]s"
  resource_group_name = "shared"
  location            = "westeurope"
  runtime             = var.sensitive
  tags                = { note = var.plain, key = var.sensitive }
}
`, name)
}

// secretPermission is secretFunction for a permission; the function is given as an
// expression.
func secretPermission(name, function string) string {
	return fmt.Sprintf(`resource "simcloud_function_permission" "%[1]s" {
  name                = "%[1]s"
  resource_group_name = "shared"
  function_name       = %[2]s
  principal           = var.sensitive
  action              = var.plain
}
`, name, function)
}

// secretive is a function with a permission.
func secretive(name string) string {
	return variables + secretFunction(name) + secretPermission(name, "simcloud_function."+name+".name")
}

// hears follows all that the coordinator tells to those who watch, until the end
// of the test or stop. It starts once there is a coordinator.
func (b *bench) hears() (stop func() string) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.ctx)
	var group sync.WaitGroup
	var heard strings.Builder
	conn, err := b.Connect(ctx)
	if err != nil {
		cancel()
		b.t.Fatal(err)
	}
	group.Go(func() {
		for event, err := range conn.Watch(ctx) {
			if err != nil {
				return
			}
			heard.Write(event.GetEvent())
		}
	})
	return func() string {
		cancel()
		group.Wait()
		if err := conn.Close(); err != nil {
			b.t.Error(err)
		}
		return heard.String()
	}
}

// clean fails the test where a text has a secret, and, if it is one that tells of
// purposes, where it lacks the control.
func (p plant) clean(t *testing.T, place, text string, tells bool) {
	t.Helper()
	for _, f := range leak.Scan(place, []byte(text), p.secrets()) {
		t.Error(f)
	}
	if tells && len(leak.Scan(place, []byte(text), []leak.Secret{p.control})) == 0 {
		t.Errorf("%s does not have what is meant for others: the scan looks in the wrong place", place)
	}
}

// cleanFolders scans all files that are left, but for the states of the
// workspaces, which are Terraform's, and the cloud's own.
func (p plant) cleanFolders(b *bench) {
	b.t.Helper()
	for _, dir := range []string{b.StateDir(), b.RuntimeDir(), b.TempDir()} {
		found, files, err := leak.ScanFolder(dir, append(p.secrets(), p.control))
		if err != nil {
			b.t.Error(err)
		}
		control := 0
		for _, f := range found {
			if f.Secret == p.control.Name {
				control++
				continue
			}
			b.t.Errorf("%v of %s", f, filepath.Base(dir))
		}
		b.t.Logf("%s: %d files, %d with the control", filepath.Base(dir), files, control)
		if dir == b.StateDir() && control == 0 {
			b.t.Error("the journal does not have what is meant for others: the scan looks in the wrong place")
		}
	}
}

// ownLines are the lines that tfweaver logs on standard error. What a provider logs
// is passed on as it is, as the CLI does.
func ownLines(run *lab.Run) string {
	var own strings.Builder
	for line := range strings.Lines(run.Stderr()) {
		if strings.HasPrefix(line, "time=") && !strings.Contains(line, " plugin=terraform-provider-") {
			own.WriteString(line)
		}
	}
	return own.String()
}

// TestSecretsStayWhereTheyAre plants secrets wherever a run meets them, and looks
// for them in all that tfweaver writes and tells: journal, logs, answers, reports,
// events, sockets and temporary files.
func TestSecretsStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	p := newPlant()
	b := p.bench(t)
	observer := b.workspace("carol", strings.Replace(subnet("net", "c", 3), "10.0.3.0/24", p.values["refused"], 1))
	b.tfweaver(observer, 0, "plan", "-no-color")
	stop := b.hears()
	alice := b.start(wovenFor(p.control.Value), b.workspace("alice", subnet("net", "a", 1)+secretive("fa")), "apply", "-auto-approve", "-no-color")
	b.awaitOf(alice, "alice's subnet is being written", lab.Wrote("subnets", "a", activity.Accepted))
	bob := b.start(woven, b.workspace("bob", subnet("net", "b", 2)+secretive("fb")), "apply", "-auto-approve", "-no-color")
	id := b.firstWaiting()
	for _, question := range [][]string{{"status", "-json"}, {"status"}, {"why", "-json", id}, {"why", id}} {
		answer := b.tfweaver(observer, 0, question...)
		p.clean(t, "tfweaver "+question[0], answer.Said(), true)
	}
	p.clean(t, "tfweaver locks", b.tfweaver(observer, 0, "locks", "-json").Said(), false)
	refused := b.tfweaver(observer, 1, "apply", "-auto-approve", "-json", "-weaver-wait=0s")
	p.clean(t, "the refusal", weaverLines(t, refused), true)
	b.wait(alice, bob)
	b.succeeded(alice, bob)
	failed := b.tfweaver(observer, 1, "apply", "-auto-approve", "-no-color")
	if !strings.Contains(failed.Said(), p.values["refused"]) {
		t.Error("the cloud did not repeat the value that it refused: the test shows nothing")
	}
	p.clean(t, "tfweaver report", b.tfweaver(observer, 0, "report", "-json").Said(), true)
	p.clean(t, "what watchers hear", stop(), true)
	for _, run := range []*lab.Run{alice, bob, refused, failed} {
		lines := ownLines(run)
		if lines == "" {
			t.Errorf("%s has logged nothing: the test shows nothing", run.Name)
		}
		p.clean(t, "the log of "+run.Name, lines, false)
	}
	if err := b.StopCoordinator(); err != nil {
		t.Error(err)
	}
	p.cleanFolders(b)
}

// weaverLines are tfweaver's own lines of a run with -json.
func weaverLines(t *testing.T, run *lab.Run) string {
	t.Helper()
	var own strings.Builder
	for line := range strings.Lines(run.Stdout()) {
		if strings.Contains(line, `"type":"weaver_`) {
			own.WriteString(line)
		}
	}
	return own.String()
}

// TestSecretsOfAKilledRun: the object of a killed call is read back by another
// session; what it reads goes nowhere. What the killed run leaves of its plan is
// for its owner's eyes only.
func TestSecretsOfAKilledRun(t *testing.T) {
	t.Parallel()
	p := newPlant()
	b := p.bench(t)
	configured := strings.Replace(lab.Preamble, `provider "simcloud" {}`, fmt.Sprintf("provider \"simcloud\" {\n  token = %q\n}", p.values["config"]), 1)
	workspace := b.workspace("victim", "")
	if err := workspace.Write("main.tf", configured+secretive("f")); err != nil {
		t.Fatal(err)
	}
	victim := leased(b, workspace, p.control.Value)
	b.awaitOf(victim, "the victim's permission is being written", lab.Wrote("permissions", "f", activity.Accepted))
	if err := victim.Kill(); err != nil {
		t.Fatal(err)
	}
	rival := leased(b, b.workspace("rival", variables+secretPermission("other", `"f"`)), "add another permission")
	b.wait(victim, rival)
	b.succeeded(rival)
	p.clean(t, "the log of the rival", ownLines(rival), false)
	if err := b.StopCoordinator(); err != nil {
		t.Error(err)
	}
	private(t, b.TempDir())
	p.cleanFolders(b)
}

// private removes the plan of a killed run, which has every value in it, after it
// has made sure that only its owner could have read it.
func private(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "tfweaver-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s of the killed run can be read by others: %v", filepath.Base(name), info.Mode())
		}
		if err := os.RemoveAll(name); err != nil {
			t.Error(err)
		}
	}
	t.Logf("the killed run has left %d folders", len(left))
}
