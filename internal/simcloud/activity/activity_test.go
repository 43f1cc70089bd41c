// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package activity_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

func at(seconds int) time.Time {
	return time.Date(2030, 1, 2, 3, 4, seconds, 5, time.UTC)
}

func accepted(id, object string, second int) activity.Event {
	return activity.Event{Time: at(second), Actor: "a", Method: "PUT", OperationID: id, ObjectID: object, HTTPStatus: 201, Status: activity.Accepted}
}

func ended(id, object string, second int, status activity.Status) activity.Event {
	return activity.Event{Time: at(second), Actor: "a", Method: "PUT", OperationID: id, ObjectID: object, Status: status}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	want := []activity.Event{
		{Time: at(1), Actor: "a", UserAgent: "u", CorrelationID: "c", RequestID: "r", OperationID: "o", Method: "PUT", Operation: "x/write", ObjectID: "/x", ObjectType: "x", HTTPStatus: 201, Status: activity.Accepted, Body: []byte(`{"a":1}`)},
		{Time: at(2), Actor: "b", Method: "DELETE", HTTPStatus: 409, Status: activity.Refused, ErrorCode: "Busy", BlockedBy: "o"},
	}
	name := filepath.Join(t.TempDir(), "activity.jsonl")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := activity.NewWriter(f)
	for _, e := range want {
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := activity.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// countingWriter notes the parts it is given.
type countingWriter struct {
	mu    sync.Mutex
	parts []string
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parts = append(w.parts, string(p))
	return len(p), nil
}

func TestEveryLineIsOneWrite(t *testing.T) {
	t.Parallel()
	var out countingWriter
	w := activity.NewWriter(&out)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if err := w.Append(activity.Event{Actor: strings.Repeat("x", 9000), Status: activity.Refused}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if len(out.parts) != 20 {
		t.Fatalf("%d writes for 20 events", len(out.parts))
	}
	for _, p := range out.parts {
		if strings.Count(p, "\n") != 1 || !strings.HasSuffix(p, "\n") {
			t.Errorf("a write is not one line: %q...", p[:20])
		}
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestAppendReportsFailure(t *testing.T) {
	t.Parallel()
	if err := activity.NewWriter(brokenWriter{}).Append(activity.Event{}); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

func TestReadLogLeavesOutAnUnfinishedLine(t *testing.T) {
	t.Parallel()
	events, err := activity.ReadLog(strings.NewReader("{\"status\":\"Refused\"}\n\n{\"status\":\"Acc"))
	if err != nil || len(events) != 1 {
		t.Errorf("got %v, %v; want one event", events, err)
	}
}

func TestReadLogNamesTheBadLine(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"{\"status\":\"Refused\"}\nnonsense\n", "{\"status\":\"Refused\"}\n" + strings.Repeat("x", 5<<20) + "\n"} {
		_, err := activity.ReadLog(strings.NewReader(bad))
		if err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("got %v; want an error about line 2", err)
		}
	}
}

func TestReadFileThatIsNotThere(t *testing.T) {
	t.Parallel()
	if _, err := activity.ReadFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestPair(t *testing.T) {
	t.Parallel()
	refused := activity.Event{Time: at(2), Method: "PUT", Status: activity.Refused, ErrorCode: "Busy"}
	noop := activity.Event{Time: at(2), Method: "DELETE", HTTPStatus: 204, Status: activity.Succeeded}
	log, err := activity.Pair([]activity.Event{
		accepted("1", "/a", 0), refused, accepted("2", "/b", 3), noop,
		{Method: "GET", Status: activity.Refused},
		{Method: "GET", Status: activity.Succeeded},
		ended("1", "/a", 5, activity.Succeeded), ended("2", "/b", 9, activity.Canceled), accepted("3", "/c", 20),
	})
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		ID, Object string
		Took       time.Duration
		Result     activity.Status
	}
	var got []row
	for _, o := range log.Operations {
		got = append(got, row{o.ID, o.ObjectID, o.Duration(), o.Result})
	}
	want := []row{{"1", "/a", 5 * time.Second, activity.Succeeded}, {"2", "/b", 6 * time.Second, activity.Canceled}, {"3", "/c", 0, activity.Accepted}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]activity.Event{refused}, log.Refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]activity.Event{noop}, log.NoOps); diff != "" {
		t.Errorf("no-ops (-want +got):\n%s", diff)
	}
	if log.Succeeded() != 1 || log.RefusedWith("Busy") != 1 || log.RefusedWith("Other") != 0 || log.Makespan() != 9*time.Second {
		t.Errorf("succeeded %d, busy %d, makespan %v", log.Succeeded(), log.RefusedWith("Busy"), log.Makespan())
	}
}

func TestPairRefusesALogThatProvesNothing(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]activity.Event{
		"end without start": {ended("1", "/a", 1, activity.Succeeded)},
		"two starts":        {accepted("1", "/a", 0), accepted("1", "/a", 1)},
		"two ends":          {accepted("1", "/a", 0), ended("1", "/a", 1, activity.Succeeded), ended("1", "/a", 2, activity.Failed)},
	} {
		if log, err := activity.Pair(events); err == nil {
			t.Errorf("%s: got %+v and no error", name, log)
		}
	}
}

func TestOverlaps(t *testing.T) {
	t.Parallel()
	op := func(start, end int) activity.Operation {
		o := activity.Operation{Start: at(start)}
		if end > 0 {
			o.End = at(end)
		}
		return o
	}
	for _, c := range []struct {
		a, b activity.Operation
		want bool
	}{
		{op(0, 5), op(5, 6), false},
		{op(0, 5), op(4, 6), true},
		{op(0, 9), op(4, 6), true},
		{op(0, 0), op(40, 50), true},
		{op(40, 50), op(0, 0), true},
		{op(0, 1), op(2, 0), false},
	} {
		if got := c.a.Overlaps(c.b); got != c.want {
			t.Errorf("%v-%v and %v-%v: got %v", c.a.Start.Second(), c.a.End.Second(), c.b.Start.Second(), c.b.End.Second(), got)
		}
		if c.a.Overlaps(c.b) != c.b.Overlaps(c.a) {
			t.Error("Overlaps must be symmetric")
		}
	}
}

func TestEmptyLog(t *testing.T) {
	t.Parallel()
	events, err := activity.ReadLog(bytes.NewReader(nil))
	if err != nil || len(events) != 0 {
		t.Fatalf("got %v, %v", events, err)
	}
	log, err := activity.Pair(events)
	if err != nil || log.Makespan() != 0 {
		t.Errorf("makespan %v, %v", log.Makespan(), err)
	}
}
