// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package validation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWaitsComeFromJSONLines(t *testing.T) {
	t.Parallel()
	output := `{"@timestamp":"2026-01-01T00:00:00.0Z","type":"version"}
{"@timestamp":"2026-01-01T00:00:01.0Z","type":"weaver_wait","address":"s.b","report":{"conflicts":[{"holder":{"actor":"session-a"}}]}}
{"@timestamp":"2026-01-01T00:00:02.0Z","type":"weaver_wait","address":"s.b","tx":"t1","waited":0,"report":{"requester":{"actor":"session-b"},"conflicts":[{"holder":{"actor":"session-a"}},{"holder":{"actor":"session-a"}}]}}
{"@timestamp":"2026-01-01T00:00:03.0Z","type":"weaver_wait","address":"s.b","tx":"t1","waited":1,"report":{"requester":{"actor":"session-b"},"conflicts":[{"holder":{"actor":"session-a"}}]}}
{"@timestamp":"2026-01-01T00:00:04.0Z","type":"weaver_wait","address":"s.b","tx":"t1","waited":2,"report":{"requester":{"actor":"session-b"},"conflicts":[{"holder":{"actor":"session-c"}}]}}
{"@timestamp":"2026-01-01T00:00:05.0Z","type":"weaver_wait","address":"s.d","tx":"t2","waited":0,"report":{"requester":{"actor":"session-b"},"conflicts":[{"holder":{"actor":"session-b"}}]}}
{"@timestamp":"2026-01-01T00:00:06.5Z","type":"weaver_admitted","address":"s.b","tx":"t1","waited":4.5}
`
	got, err := waitsOf("session-b", output)
	if err != nil {
		t.Fatal(err)
	}
	zero := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	want := []Wait{
		{"session-b", "s.b", zero.Add(2 * time.Second), zero.Add(4 * time.Second), "session-a"},
		{"session-b", "s.b", zero.Add(4 * time.Second), zero.Add(6500 * time.Millisecond), "session-c"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestWaitsRefuseOutputThatIsNotJSON(t *testing.T) {
	t.Parallel()
	if _, err := waitsOf("session-b", "{}\nError: no\n"); err == nil {
		t.Error("text among JSON lines was taken")
	}
}
