// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lineup

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

func TestTurnsAndGaps(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	asked := []lab.StateRequest{
		{At: at(1), Method: "LOCK", By: "a", Status: 200},
		{At: at(1), Method: "LOCK", By: "b", Status: 423},
		{At: at(2), Method: "UNLOCK", By: "a", Status: 200},
		{At: at(3), Method: "LOCK", By: "a", Status: 200},
		{At: at(5), Method: "UNLOCK", By: "a", Status: 200},
		{At: at(8), Method: "LOCK", By: "b", Status: 200},
		{At: at(8), Method: "UNLOCK", By: "b", Status: 409},
		{At: at(9), Method: "UNLOCK", By: "b", Status: 200},
	}
	runs := []*lab.Run{
		{Actor: "a", Started: at(0), Ended: at(6)}, {Actor: "b", Started: at(0), Ended: at(10), ExitCode: 1},
	}
	got := judgeState(runs, asked)
	want := StateResult{
		Total: 10 * time.Second, Ran: []string{"a", "b"}, Gaps: []time.Duration{3 * time.Second},
		StartToLock: []time.Duration{time.Second, 8 * time.Second}, Held: []time.Duration{4 * time.Second, time.Second}, Refused: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
