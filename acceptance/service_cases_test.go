// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// attachments are n resources that the cloud writes one at a time in the whole
// account.
func attachments(prefix string, n int) string {
	var hcl strings.Builder
	for i := range n {
		fmt.Fprintf(&hcl, `resource "simcloud_account_attachment" "%[1]s%[2]d" {
  name   = "%[1]s%[2]d"
  target = "policy-%[1]s%[2]d"
}
`, prefix, i)
	}
	return hcl.String()
}

// accountBusy is a cloud in which the account is busy for a second with each
// attachment.
func accountBusy() lab.Setup {
	cloud := fast()
	cloud.Latencies["account_attachment"] = time.Second
	return lab.Setup{Cloud: cloud}
}

// ofType are the operations on objects of one type, by the last segment of it.
func ofType(log activity.Log, objectType string) []activity.Operation {
	var found []activity.Operation
	for _, o := range log.Operations {
		if strings.HasSuffix(o.ObjectType, "/"+objectType) {
			found = append(found, o)
		}
	}
	return found
}

// TestC09AccountWideSingleWriter: six attachments of two sessions in one account
// that takes one at a time (aws provider issue 5073). They follow one another,
// and a third session that makes other things is not held up by them.
func TestC09AccountWideSingleWriter(t *testing.T) {
	t.Parallel()
	setup := accountBusy()
	setup.Cloud.Latencies["resource_group"] = 2 * time.Second
	b := newBench(t, setup)
	left, right := b.workspace("left", attachments("l", 3)), b.workspace("right", attachments("r", 3))
	other := b.workspace("other", group()+network("net", "")+securityGroup("sg"))
	runs := []*lab.Run{b.start(woven, left, "apply", "-auto-approve", "-json"), b.start(woven, right, "apply", "-auto-approve", "-json")}
	b.await("an attachment is being written", func(log activity.Log) bool { return len(ofType(log, "attachments")) > 0 })
	bystander := b.start(woven, other, "apply", "-auto-approve", "-json")
	b.wait(append(runs, bystander)...)
	b.succeeded(append(runs, bystander)...)
	log := b.clean()
	written := ofType(log, "attachments")
	if len(written) != 6 {
		t.Errorf("%d attachments were written, want 6", len(written))
	}
	for n, gap := range lab.Gaps(written) {
		if gap < 0 {
			t.Errorf("attachments %d and %d overlap by %v", n, n+1, -gap)
		}
	}
	if waits := b.waited([]*lab.Run{bystander}); len(waits) != 0 {
		t.Errorf("the session that attaches nothing waited: %v", waits)
	}
	if !overlapsAny(ofType(log, "resourceGroups"), written) {
		t.Error("nothing else went on while attachments were written")
	}
	b.unchanged(left, right, other)
}

// overlapsAny says whether some operation of one list was in flight together
// with one of the other.
func overlapsAny(some, others []activity.Operation) bool {
	for _, o := range some {
		for _, other := range others {
			if o.Overlaps(other) {
				return true
			}
		}
	}
	return false
}

// TestC09PlainTerraformIsRefused is the control of TestC09.
func TestC09PlainTerraformIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, accountBusy())
	runs := b.applyAll(plain, b.workspace("alone", attachments("a", 6)))
	if n := b.log().RefusedWith(string(arm.CodeConcurrentModification)); runs[0].ExitCode != 1 || n == 0 {
		t.Errorf("exit code %d with %d calls refused: the scenario provokes nothing", runs[0].ExitCode, n)
	}
}

// permissions is a function with n permissions, each write of which is a new
// revision of the function.
func permissions(n int) string {
	hcl := group() + `resource "simcloud_function" "f" {
  name                = "f"
  resource_group_name = simcloud_resource_group.shared.name
  location            = "westeurope"
  runtime             = "go"
}
`
	for i := range n {
		hcl += fmt.Sprintf(`resource "simcloud_function_permission" "p%[1]d" {
  name                = "p%[1]d"
  resource_group_name = "shared"
  function_name       = simcloud_function.f.name
  principal           = "service-%[1]d"
  action              = "invoke"
}
`, i)
	}
	return hcl
}

// functionBusy is a cloud that takes half a second to write a revision.
func functionBusy() lab.Setup {
	cloud := fast()
	cloud.Latencies["function"], cloud.Latencies["function_permission"] = 300*time.Millisecond, 500*time.Millisecond
	return lab.Setup{Cloud: cloud}
}

// TestC10PermissionsOfOneFunction: eight children rewrite their parent, and
// nobody has to give -parallelism=1 (aws provider issue 5154).
func TestC10PermissionsOfOneFunction(t *testing.T) {
	t.Parallel()
	b := newBench(t, functionBusy())
	w := b.workspace("alone", permissions(8))
	b.succeeded(b.applyAll(woven, w)...)
	log := b.clean()
	written := ofType(log, "permissions")
	if len(written) != 8 {
		t.Errorf("%d permissions were written, want 8", len(written))
	}
	for n, gap := range lab.Gaps(written) {
		if gap < 0 {
			t.Errorf("permissions %d and %d overlap by %v", n, n+1, -gap)
		}
	}
	b.unchanged(w)
	b.terraform(w, 0, "apply", "-refresh-only", "-auto-approve", "-no-color")
	shown := strings.Join(strings.Fields(b.terraform(w, 0, "state", "show", "-no-color", "simcloud_function.f").Stdout()), " ")
	if !strings.Contains(shown, "revision = 9") {
		t.Errorf("the function is not at revision 9, one for itself and one for each permission: %s", shown)
	}
}

// TestC10PlainTerraformIsRefused is the control of TestC10.
func TestC10PlainTerraformIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, functionBusy())
	runs := b.applyAll(plain, b.workspace("alone", permissions(8)))
	if n := b.log().RefusedWith(string(arm.CodeResourceConflict)); runs[0].ExitCode != 1 || n == 0 {
		t.Errorf("exit code %d with %d calls refused: the scenario provokes nothing", runs[0].ExitCode, n)
	}
}
