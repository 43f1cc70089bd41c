// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// TestNothingIsLeftBehind: an experiment that is closed in the middle of a run
// leaves no file behind, and neither the run nor the coordinator.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	cloud := fast()
	cloud.Latencies["resource_group"] = 2 * time.Second
	e, err := shared.Experiment(t.Context(), lab.Setup{Cloud: cloud})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Experiment: e, t: t, ctx: t.Context()}
	w := b.workspace("alone", group())
	run := b.start(woven, w, "apply", "-auto-approve", "-no-color")
	b.await("the group is being created", lab.Wrote("resourceGroups", "shared", activity.Accepted))
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if !run.Exited() {
		t.Error("the run goes on")
	}
	if _, err := os.Stat(w.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the workspace is still there: %v", err)
	}
}
