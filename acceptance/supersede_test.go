// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// supersede runs a network update of one session into the subnet write of
// another, on a cloud in which the former cancels the latter.
func supersede(b *bench, apply starter) (subnetRun, networkRun *lab.Run) {
	b.t.Helper()
	owner := b.workspace("owner", group()+network("net", ""))
	b.succeeded(b.applyAll(apply, owner)...)
	user := b.workspace("user", subnet("net", "s", 1))
	if err := owner.Configure(group() + network("net", `round = "2"`)); err != nil {
		b.t.Fatal(err)
	}
	subnetRun = b.start(apply, user, "apply", "-auto-approve", "-no-color")
	b.await("the subnet write is accepted", lab.Wrote("subnets", "s", activity.Accepted))
	networkRun = b.start(apply, owner, "apply", "-auto-approve", "-no-color")
	b.wait(subnetRun, networkRun)
	return subnetRun, networkRun
}

func superseding() lab.Setup {
	c := fast()
	c.Supersede = true
	c.Latencies["subnet"] = 5 * time.Second
	return lab.Setup{Cloud: c}
}

// TestSupersedePlainTerraformLosesAnAcceptedWrite is the control of
// TestSupersedeNothingIsLost: no retry at submission would have seen it coming.
func TestSupersedePlainTerraformLosesAnAcceptedWrite(t *testing.T) {
	t.Parallel()
	b := newBench(t, superseding())
	subnetRun, _ := supersede(b, plain)
	if subnetRun.ExitCode != 1 || !lab.Wrote("subnets", "s", activity.Canceled)(b.log()) {
		t.Errorf("exit code %d: the scenario loses nothing", subnetRun.ExitCode)
	}
	if n := b.log().RefusedWith(string(arm.CodeAnotherOperationInProgress)); n != 0 {
		t.Errorf("%d calls were refused: the switch is off", n)
	}
}

// TestSupersedeNothingIsLost: the update waits for the subnet.
func TestSupersedeNothingIsLost(t *testing.T) {
	t.Parallel()
	b := newBench(t, superseding())
	subnetRun, networkRun := supersede(b, woven)
	b.succeeded(subnetRun, networkRun)
	if n := b.clean().Succeeded(); n != 4 {
		t.Errorf("%d operations succeeded, want 4", n)
	}
}
