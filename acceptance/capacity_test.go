// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// machine is a virtual machine; one of Standard_D4s_v5 takes four processors.
func machine(name string, more ...string) string {
	return fmt.Sprintf(`resource "simcloud_virtual_machine" "%[1]s" {
  name                = "%[1]s"
  resource_group_name = "shared"
  location            = "westeurope"
  size                = "Standard_D4s_v5"
  %[2]s
}
`, name, strings.Join(more, "\n  "))
}

// fleet is n machines.
func fleet(prefix string, n int) (hcl string) {
	for i := range n {
		hcl += machine(fmt.Sprintf("%s%d", prefix, i))
	}
	return hcl
}

// quota is a cloud that has a number of processors, and needs a while for a machine.
func quota(processors int) lab.Setup {
	cloud := fast()
	cloud.Latencies["virtual_machine"] = 5 * time.Second
	cloud.Quotas = map[string]int{"westeurope": processors}
	return lab.Setup{Cloud: cloud}
}

// capacityReports are the reports of a run with -json in which a count is in the
// way, oldest first.
func capacityReports(t *testing.T, run *lab.Run) (found []lab.Conflict) {
	t.Helper()
	lines, err := lab.Lines(run.Stdout())
	if err != nil {
		t.Error(err)
	}
	for _, l := range lines {
		for _, c := range l.Report.Conflicts {
			if c.Capacity != nil {
				found = append(found, c)
			}
		}
	}
	return found
}

// jsonFor is tfweaver with a stated intent and JSON lines.
func jsonFor(objective string, more ...string) starter {
	return func(w *lab.Workspace, ctx context.Context, args ...string) (*lab.Run, error) {
		return w.StartTfweaver(ctx, append(append(args, "-json", "-weaver-intent", objective), more...)...)
	}
}

// TestC28QuotaIsReservedForAWholePlan: 20 processors, two sessions want 12 each.
// One gets all, the other one is told before its first call and has no machine
// (terraform issue 10056).
func TestC28QuotaIsReservedForAWholePlan(t *testing.T) {
	t.Parallel()
	b := newBench(t, quota(20))
	if err := b.Cloud.Furnish(b.ctx); err != nil {
		t.Fatal(err)
	}
	one, two := b.workspace("one", fleet("one", 3)), b.workspace("two", fleet("two", 3))
	runs := map[string]*lab.Run{
		"one": b.start(jsonFor("serve the shop"), one, "apply", "-auto-approve"),
		"two": b.start(jsonFor("run the batch"), two, "apply", "-auto-approve"),
	}
	b.wait(runs["one"], runs["two"])
	machines := make(map[string]int)
	for _, o := range ofType(b.clean(), "virtualMachines") {
		machines[o.Actor]++
	}
	winner, loser, purpose := "one", "two", "serve the shop"
	if runs["two"].ExitCode == 0 {
		winner, loser, purpose = "two", "one", "run the batch"
	}
	if machines[winner] != 3 || machines[loser] != 0 || runs[winner].ExitCode != 0 || runs[loser].ExitCode != 1 {
		t.Errorf("machines %v, exit codes %d and %d", machines, runs["one"].ExitCode, runs["two"].ExitCode)
	}
	reports := capacityReports(t, runs[loser])
	if len(reports) == 0 {
		t.Fatal("the loser was not told of any count")
	}
	first := reports[0]
	if c := first.Capacity; c.Limit != 20 || c.Used+c.Reserved != 12 || c.Asked != 12 || !strings.Contains(c.Bucket, "cores") {
		t.Errorf("the loser was first told of %+v", *c)
	}
	if first.Holder == nil || first.Holder.Actor != winner || first.Holder.Objective != purpose {
		t.Errorf("the loser was told that %+v has the rest, want %s for %q", first.Holder, winner, purpose)
	}
	b.unchanged(b.spaceOf(winner, one, two))
}

// spaceOf is the workspace of an actor.
func (b *bench) spaceOf(actor string, all ...*lab.Workspace) *lab.Workspace {
	b.t.Helper()
	for _, w := range all {
		if w.Actor == actor {
			return w
		}
	}
	b.t.Fatalf("no workspace of %s", actor)
	return nil
}

// TestC28RefusedAtOnce: who does not want to wait is refused before anything, with
// the same numbers, also in text.
func TestC28RefusedAtOnce(t *testing.T) {
	t.Parallel()
	setup := quota(20)
	setup.Cloud.Latencies["virtual_machine"] = 6 * time.Second
	b := newBench(t, setup)
	if err := b.Cloud.Furnish(b.ctx); err != nil {
		t.Fatal(err)
	}
	first := b.start(wovenFor("serve the shop"), b.workspace("one", fleet("one", 3)), "apply", "-auto-approve", "-no-color")
	b.awaitOf(first, "the first machine is being made", lab.Wrote("virtualMachines", "one0", activity.Accepted))
	refused := b.tfweaver(b.workspace("two", fleet("two", 3)), 1, "apply", "-auto-approve", "-no-color", "-weaver-wait=0s")
	if first.Exited() {
		t.Error("the first one was done before the second was refused: the test shows nothing")
	}
	says(t, "the refusal", refused.Said(), `\b12 asked of .*cores`, `limit 20`, `\d+ used`, `12 reserved`, `by one`, `serve the shop`)
	b.wait(first)
	b.succeeded(first)
	for _, o := range ofType(b.clean(), "virtualMachines") {
		if o.Actor != "one" {
			t.Errorf("%s of %s was sent", o.Method, o.Actor)
		}
	}
}

// TestC28PlainTerraformIsHalfDone is the control of TestC28: both start, and
// neither gets all.
func TestC28PlainTerraformIsHalfDone(t *testing.T) {
	t.Parallel()
	b := newBench(t, quota(20))
	if err := b.Cloud.Furnish(b.ctx); err != nil {
		t.Fatal(err)
	}
	runs := b.applyAll(plain, b.workspace("one", fleet("one", 3)), b.workspace("two", fleet("two", 3)))
	if n := b.log().RefusedWith(string(arm.CodeOperationNotAllowed)); n == 0 || runs[0].ExitCode+runs[1].ExitCode == 0 {
		t.Errorf("exit codes %d and %d with %d calls refused: the scenario provokes nothing", runs[0].ExitCode, runs[1].ExitCode, n)
	}
}

// TestCapacityOwnFreesAreKept: a machine is replaced where the quota has no room
// for two, while somebody waits for just that much. Nobody takes it in between.
func TestCapacityOwnFreesAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, quota(4))
	if err := b.Cloud.Furnish(b.ctx); err != nil {
		t.Fatal(err)
	}
	owner, taker := b.workspace("owner", machine("m", `image = "v1"`)), b.workspace("taker", machine("other"))
	b.succeeded(b.applyAll(plain, owner)...)
	if err := owner.Configure(machine("m", `image = "v2"`)); err != nil {
		t.Fatal(err)
	}
	replace := b.start(jsonFor("move to v2"), owner, "apply", "-auto-approve")
	b.awaitOf(replace, "the machine is being deleted", func(log activity.Log) bool { return len(ofType(log, "virtualMachines")) > 1 })
	take := b.start(jsonFor("get a machine"), taker, "apply", "-auto-approve")
	b.wait(replace, take)
	b.succeeded(replace)
	if take.ExitCode != 1 || len(capacityReports(t, take)) == 0 {
		t.Errorf("exit code %d of who cannot have it", take.ExitCode)
	}
	if n := len(ofType(b.clean(), "virtualMachines")); n != 3 {
		t.Errorf("%d operations on machines, want those of the owner alone", n)
	}
	b.unchanged(owner)
}

// smallSubnet is a network with a subnet of three addresses: of the eight of a /29
// the cloud keeps five.
func smallSubnet(b *bench) {
	b.t.Helper()
	if err := b.Cloud.Furnish(b.ctx, "net"); err != nil {
		b.t.Fatal(err)
	}
	hcl := strings.ReplaceAll(subnet("net", "small", 1), "/24", "/29")
	b.succeeded(b.applyAll(plain, b.workspace("base", hcl))...)
}

// consumers are n workspaces with an interface in the small subnet each.
func consumers(b *bench, n int, hcl func(name string) string) (all []*lab.Workspace) {
	b.t.Helper()
	for i := range n {
		name := fmt.Sprintf("s%d", i)
		all = append(all, b.workspace(name, hcl(name)))
	}
	return all
}

// inSmall is an interface in the small subnet.
func inSmall(name string, more ...string) string {
	hcl := strings.Replace(networkInterface(name, subnetID("net", "small"), ""), `network_security_group_id = ""`, strings.Join(more, "\n  "), 1)
	return hcl
}

// TestC31AddressesOfASubnet: six sessions want an address each where there are
// three. Exactly three run, together; the others are told (CloudWeaver paper).
func TestC31AddressesOfASubnet(t *testing.T) {
	t.Parallel()
	const usable, sessions = 3, 6
	setup := lab.Setup{Cloud: fast()}
	setup.Cloud.Latencies["network_interface"] = 8 * time.Second
	b := newBench(t, setup)
	smallSubnet(b)
	var runs []*lab.Run
	for _, w := range consumers(b, sessions, func(name string) string { return inSmall(name) }) {
		runs = append(runs, b.start(jsonFor("connect "+w.Actor), w, "apply", "-auto-approve"))
	}
	b.wait(runs...)
	made := ofType(b.clean(), "networkInterfaces")
	if len(made) != usable {
		t.Errorf("%d interfaces were made, want %d", len(made), usable)
	}
	for _, o := range made {
		for _, other := range made {
			if !o.Overlaps(other) {
				t.Errorf("%s and %s follow one another although there is room for both", o.ObjectID, other.ObjectID)
			}
		}
	}
	b.toldOfCount(runs, sessions-usable, "addresses", usable)
}

// toldOfCount fails the test unless so many runs were refused for a count.
func (b *bench) toldOfCount(runs []*lab.Run, refused int, bucket string, limit int64) {
	b.t.Helper()
	for _, r := range runs {
		if r.ExitCode == 0 {
			continue
		}
		refused--
		reports := capacityReports(b.t, r)
		if len(reports) == 0 {
			b.t.Errorf("%s was not told of any count", r.Name)
			continue
		}
		for _, c := range reports {
			if !strings.Contains(c.Capacity.Bucket, bucket) || c.Capacity.Limit != limit || c.Capacity.Used+c.Capacity.Reserved != limit || c.Capacity.Asked != 1 {
				b.t.Errorf("%s was told of %+v", r.Name, *c.Capacity)
			}
		}
		if first := reports[0]; first.Holder == nil || first.Holder.Objective == "" {
			b.t.Errorf("%s was not told who has it and what for", r.Name)
		}
	}
	if refused != 0 {
		b.t.Errorf("%d too few runs were refused", refused)
	}
}

// TestC31KilledSessionsGiveBack: of three sessions that have reserved an address
// and not taken it yet two are killed. Theirs go to those who wait, within the
// lease, and nobody gets one too many.
func TestC31KilledSessionsGiveBack(t *testing.T) {
	t.Parallel()
	setup := lab.Setup{Cloud: fast()}
	setup.Cloud.Latencies["public_ip"] = lease + 6*time.Second
	b := newBench(t, setup)
	smallSubnet(b)
	spaces := consumers(b, 6, func(name string) string {
		return fmt.Sprintf(`resource "simcloud_public_ip" "%[1]s" {
  name                = "%[1]s"
  resource_group_name = "shared"
  location            = "westeurope"
}
`, name) + inSmall(name, after("simcloud_public_ip."+name))
	})
	patient := func(w *lab.Workspace) *lab.Run {
		return b.start(jsonFor("connect "+w.Actor, "-weaver-lease="+lease.String()), w, "apply", "-auto-approve")
	}
	var first, later []*lab.Run
	for _, w := range spaces[:3] {
		first = append(first, patient(w))
	}
	for _, r := range first {
		b.awaitOf(r, r.Actor+" is at its slow part", lab.Wrote("publicIPAddresses", r.Actor, activity.Accepted))
	}
	for _, w := range spaces[3:] {
		later = append(later, patient(w))
	}
	err := b.AwaitStatus(b.ctx, "three plans wait", func(s lab.Status) bool {
		waiting := 0
		for _, tx := range s.Transactions {
			if tx.Status == "queued" {
				waiting++
			}
		}
		return waiting == 3
	})
	if err != nil {
		t.Fatal(err)
	}
	crash := time.Now()
	for _, r := range first[:2] {
		if err := r.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	b.wait(append(first, later...)...)
	log := b.log()
	for _, e := range log.Refused {
		t.Errorf("the cloud refused %s of %s: %s", e.Method, e.Actor, e.ErrorCode)
	}
	if n := len(ofType(log, "networkInterfaces")); n != 3 {
		t.Errorf("%d interfaces were made, want 3", n)
	}
	// The slow part begins when the whole plan is admitted.
	for _, o := range ofType(log, "publicIPAddresses") {
		if o.Start.After(crash) {
			b.resumed(o, crash)
		}
	}
	b.succeeded(first[2])
	b.toldOfCount(later, 1, "addresses", 3)
}

// TestDiskSlots: a disk for two machines, and three that want it.
func TestDiskSlots(t *testing.T) {
	t.Parallel()
	setup := lab.Setup{Cloud: fast()}
	setup.Cloud.Latencies["virtual_machine"], setup.Cloud.Latencies["managed_disk"] = time.Second, 100*time.Millisecond
	b := newBench(t, setup)
	if err := b.Cloud.Furnish(b.ctx); err != nil {
		t.Fatal(err)
	}
	b.succeeded(b.applyAll(plain, b.workspace("base", `resource "simcloud_managed_disk" "d" {
  name                = "d"
  resource_group_name = "shared"
  location            = "westeurope"
  size_gb             = 8
  max_shares          = 2
}
`))...)
	disk := strings.Replace(cloudPrefix, "Microsoft.Network", "Microsoft.Compute", 1) + "disks/d"
	var runs []*lab.Run
	for _, w := range consumers(b, 3, func(name string) string { return machine(name, fmt.Sprintf("data_disk_ids = [%q]", disk)) }) {
		runs = append(runs, b.start(jsonFor("attach "+w.Actor), w, "apply", "-auto-approve"))
	}
	b.wait(runs...)
	if n := len(ofType(b.clean(), "virtualMachines")); n != 2 {
		t.Errorf("%d machines were made, want 2", n)
	}
	b.toldOfCount(runs, 1, "slots", 2)
}
