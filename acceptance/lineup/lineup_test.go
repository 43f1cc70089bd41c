// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lineup

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	zero := time.Unix(1000, 0)
	write := func(actor, kind string, from, to int, result activity.Status) activity.Operation {
		return activity.Operation{
			Actor: actor, ObjectType: "Microsoft.Network/virtualNetworks" + kind, Result: result,
			Start: zero.Add(time.Duration(from) * time.Second), End: zero.Add(time.Duration(to) * time.Second),
		}
	}
	log := activity.Log{
		Operations: []activity.Operation{
			write("owner", "", 0, 9, activity.Succeeded),
			write("s1", "/subnets", 10, 12, activity.Succeeded),
			write("s0", "/subnets", 13, 16, activity.Canceled),
		},
		Refused: make([]activity.Event, 1),
	}
	want := Result{
		Queue: []string{"s0", "s1"}, Ran: []string{"s1", "s0"}, Gaps: []time.Duration{time.Second},
		Together: 6 * time.Second, OneByOne: 5 * time.Second, Succeeded: 1, Refused: 1,
	}
	if diff := cmp.Diff(want, judge(log, []string{"s0", "s1"})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
