// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// TestSerialValidationTrace is the paper's validation trace, run serially: the
// latencies must add up to the makespan the paper reports.
func TestSerialValidationTrace(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{FirstCallExtra: map[string]time.Duration{"session-a": 3630 * time.Millisecond}})
	other := "/subscriptions/" + arm.DefaultSubscription + "/resourceGroups/c"
	for _, step := range []struct {
		actor string
		thing
	}{
		{"session-a", group()},
		{"session-a", network()},
		{"session-a", subnet("a", "10.0.1.0/24")},
		{"session-b", subnet("b", "10.0.2.0/24")},
		{"session-c", thing{other, group().r}},
		{"session-c", thing{other + "/providers/Microsoft.Network/virtualNetworks/v", network().r}},
	} {
		l.must(l.call(simcloud.Call{Method: "PUT", Path: step.path, Body: encode(t, step.r), Actor: step.actor}))
		l.settle()
	}
	log := l.log()
	if log.Makespan() != 33030*time.Millisecond || log.Succeeded() != 6 {
		t.Errorf("makespan %v with %d operations; want 33.03s with 6", log.Makespan(), log.Succeeded())
	}
	if first := log.Operations[0].Duration(); first != 5830*time.Millisecond {
		t.Errorf("the first call took %v; want 5.83s", first)
	}
}

func TestLatencies(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{
		Scale:          2,
		FirstCallExtra: map[string]time.Duration{"a": time.Second, "b": time.Hour},
		Latencies:      map[string]time.Duration{"public_ip": 3 * time.Second, "public_ip.delete": time.Second},
	})
	l.built(group(), pip("p"), pip("p"))
	l.must(l.delete(pipPath + "p"))
	l.settle()
	if err := l.cloud.SetLatency("public_ip.create", 5*time.Second); err != nil {
		t.Fatal(err)
	}
	l.built(pip("p"))
	var got []time.Duration
	for _, o := range l.log().Operations {
		got = append(got, o.Duration())
	}
	want := []time.Duration{6400 * time.Millisecond, 6 * time.Second, 6 * time.Second, 2 * time.Second, 10 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASeedPerturbsTheSameWayWhateverTheOrder(t *testing.T) {
	t.Parallel()
	durations := func(seed uint64, things ...thing) map[string]time.Duration {
		l := newLab(t, simcloud.Config{Seed: seed})
		l.built(group())
		l.built(things...)
		d := make(map[string]time.Duration)
		for _, o := range l.log().Operations {
			d[o.ObjectID] = o.Duration()
		}
		return d
	}
	plain := durations(0, pip("p"), pip("q"))
	one := durations(7, pip("p"), pip("q"))
	if diff := cmp.Diff(one, durations(7, pip("q"), pip("p"))); diff != "" {
		t.Errorf("the order of calls changed latencies:\n%s", diff)
	}
	if cmp.Equal(one, durations(8, pip("p"), pip("q"))) || cmp.Equal(one, plain) {
		t.Error("seeds must differ")
	}
	if one[pipPath+"p"] == one[pipPath+"q"] {
		t.Error("objects must differ")
	}
	for path, d := range one {
		if ratio := float64(d) / float64(plain[path]); ratio < 0.75 || ratio > 1.25 {
			t.Errorf("%s: perturbed by %v", path, ratio)
		}
	}
}

func TestStatesFollowTheOperation(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{})
	l.built(group())
	op := l.must(l.send(pip("p")))
	l.state(pipPath+"p", arm.Creating)
	l.outcome(op, arm.OperationInProgress, "")
	l.clock.Advance(999 * time.Millisecond)
	l.state(pipPath+"p", arm.Creating)
	l.clock.Advance(time.Millisecond)
	l.state(pipPath+"p", arm.Succeeded)
	l.outcome(op, arm.OperationSucceeded, "")
	l.must(l.send(pip("p")))
	l.state(pipPath+"p", arm.Updating)
	l.settle()
	l.must(l.delete(pipPath + "p"))
	l.state(pipPath+"p", arm.Deleting)
	l.settle()
	l.gone(pipPath + "p")
}

func TestAFailedCreationStaysAndCanBeRepaired(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{})
	l.built(group())
	id, err := arm.ParseID(pipPath + "p")
	if err != nil {
		t.Fatal(err)
	}
	l.cloud.FailNext(id, "AllocationFailed", "no capacity")
	op := l.must(l.send(pip("p")))
	l.settle()
	l.outcome(op, arm.OperationFailed, "AllocationFailed")
	l.state(pipPath+"p", arm.Failed)
	answer, refusal := l.cloud.Write(simcloud.Call{Method: "PUT", Path: pipPath + "p", Body: encode(t, pip("p").r)})
	if refusal != nil || answer.HTTPStatus != 201 {
		t.Errorf("a PUT over a failed creation is a creation: %+v, %v", answer, refusal)
	}
	l.settle()
	l.state(pipPath+"p", arm.Succeeded)
	l.cloud.FailNext(id, "X", "x")
	op = l.must(l.delete(pipPath + "p"))
	l.settle()
	l.outcome(op, arm.OperationFailed, "X")
	l.state(pipPath+"p", arm.Failed)
	results := map[activity.Status]int{}
	for _, o := range l.log().Operations {
		results[o.Result]++
	}
	if diff := cmp.Diff(map[activity.Status]int{activity.Succeeded: 2, activity.Failed: 2}, results); diff != "" {
		t.Error(diff)
	}
}

func TestThrottling(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{WritesPerSecond: 2})
	l.built(group()) // settling advances the clock by more than a second
	write := func(actor, name string) (string, *arm.Error) {
		return l.call(simcloud.Call{Method: "PUT", Path: pipPath + name, Body: encode(t, pip(name).r), Actor: actor})
	}
	l.must(write("a", "p"))
	l.must(write("a", "q"))
	_, refusal := write("a", "r")
	l.refused(429, arm.CodeTooManyRequests)("", refusal)
	if refusal != nil && refusal.RetryAfter != time.Second {
		t.Errorf("retry after %v; want a second", refusal.RetryAfter)
	}
	l.must(write("b", "r"))
	l.clock.Advance(500 * time.Millisecond)
	l.must(write("a", "s"))
	l.refused(429, arm.CodeTooManyRequests)(write("a", "t"))
	l.clock.Advance(time.Hour)
	l.cloud.ThrottleNext(1)
	l.refused(429, arm.CodeTooManyRequests)(write("a", "t"))
	l.must(write("a", "t"))
}

func TestTheLogKeepsBodiesOfSomeTypesOnly(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	for _, e := range l.cloud.Events() {
		wants := e.Status == activity.Accepted && (e.ObjectType == arm.VirtualNetwork.Type() || e.ObjectType == arm.ResourceGroup.Type())
		if has := e.Body != nil; has != wants {
			t.Errorf("%s of %s: body %s", e.Status, e.ObjectType, e.Body)
		}
	}
}

func TestTheLogSaysWhoDidWhat(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := newLab(t, simcloud.Config{Log: &out, LogReads: true})
	l.must(l.call(simcloud.Call{
		Method: "PUT", Path: "/subscriptions/" + arm.DefaultSubscription + "/RESOURCEGROUPS/g", Body: encode(t, group().r),
		Actor: "alice", UserAgent: "agent/1", CorrelationID: "run-1", RequestID: "call-1", Session: "s-1",
	}))
	l.settle()
	l.get(groupPath)
	events, err := activity.ReadLog(&out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l.cloud.Events(), events); diff != "" {
		t.Errorf("the kept log and the written log differ:\n%s", diff)
	}
	base := activity.Event{
		Time: epoch, Received: epoch, Actor: "alice", UserAgent: "agent/1", CorrelationID: "run-1", RequestID: "call-1",
		OperationID: events[0].OperationID, Method: "PUT", Operation: "Microsoft.Resources/subscriptions/resourceGroups/write",
		ObjectID: groupPath, ObjectType: "Microsoft.Resources/subscriptions/resourceGroups",
		Session: "s-1", Incarnation: 1, UID: l.get(groupPath).Properties.UniqueID,
	}
	accepted, done := base, base
	accepted.HTTPStatus, accepted.Status, accepted.Body, accepted.Creates = 201, activity.Accepted, events[0].Body, true
	done.Time, done.Status = epoch.Add(2200*time.Millisecond), activity.Succeeded
	if diff := cmp.Diff([]activity.Event{accepted, done}, events[:2]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if read := events[2]; read.Method != "GET" || read.Status != activity.Succeeded || read.Operation != "Microsoft.Resources/subscriptions/resourceGroups/read" {
		t.Errorf("read: %+v", read)
	}
}

var errFull = errors.New("disk full")

type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left--; d.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestNothingHappensThatCannotBeLogged(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{Log: &fullDisk{left: 2}})
	l.built(group())
	l.refused(500, arm.CodeInternal)(l.send(network()))
	l.gone(netPath)
	l.refused(500, arm.CodeInternal)(l.send(subnet("a", "10.0.0.0/24")))
	if err := l.cloud.Close(); err != nil {
		t.Errorf("no end of an operation was lost, but: %v", err)
	}
}

func TestCloseReportsALostEnd(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{Log: &fullDisk{left: 1}})
	op := l.must(l.send(group()))
	l.settle()
	l.outcome(op, arm.OperationSucceeded, "")
	if err := l.cloud.Close(); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

func TestCloseAndResetStopOperations(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{})
	l.must(l.send(group()))
	l.cloud.Reset()
	if l.clock.Step() || l.cloud.InFlight() != 0 || len(l.cloud.Events()) != 0 {
		t.Error("a reset cloud has operations, timers or events")
	}
	l.gone(groupPath)
	op := l.must(l.send(group()))
	if err := l.cloud.Close(); err != nil {
		t.Error(err)
	}
	if l.clock.Step() {
		t.Error("a closed cloud has timers")
	}
	l.outcome(op, arm.OperationInProgress, "")
	l.refused(503, arm.CodeInternal)(l.send(group()))
}

func TestInRealTimeNoGoroutineStays(t *testing.T) {
	t.Parallel()
	cloud, err := simcloud.New(simcloud.Config{Scale: 0.001})
	if err != nil {
		t.Fatal(err)
	}
	answer, refusal := cloud.Write(simcloud.Call{Method: "PUT", Path: groupPath, Body: encode(t, group().r)})
	if refusal != nil {
		t.Fatal(refusal)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		status, refusal := cloud.Operation(answer.OperationID)
		if refusal != nil || time.Now().After(deadline) {
			t.Fatalf("%+v, %v", status, refusal)
		}
		if status.Status == arm.OperationSucceeded {
			break
		}
	}
	if _, refusal := cloud.Write(simcloud.Call{Method: "DELETE", Path: groupPath}); refusal != nil {
		t.Fatal(refusal)
	}
	if err := cloud.Close(); err != nil { // with an operation in flight
		t.Fatal(err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]simcloud.Config{
		"unknown type":     {Latencies: map[string]time.Duration{"disk": 1}},
		"unknown verb":     {Latencies: map[string]time.Duration{"subnet.move": 1}},
		"empty verb":       {Latencies: map[string]time.Duration{"subnet.": 1}},
		"negative latency": {Latencies: map[string]time.Duration{"subnet": -1}},
		"negative extra":   {FirstCallExtra: map[string]time.Duration{"a": -1}},
		"negative scale":   {Scale: -1},
		"unknown family":   {Quotas: map[string]int{"north/none": 1}},
		"no location":      {Quotas: map[string]int{"/standardBSFamily": 1}},
		"negative quota":   {Quotas: map[string]int{"north": -1}},
		"negative rate":    {WritesPerSecond: -1},
		"empty token":      {Tokens: map[string]string{"a": ""}},
		"empty actor":      {Tokens: map[string]string{"": "t"}},
	} {
		if _, err := simcloud.New(cfg); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	l := newLab(t, simcloud.Config{})
	if err := l.cloud.SetLatency("disk", 1); err == nil {
		t.Error("an unknown latency is accepted")
	}
}

func TestVirtualClockRunsTimersInOrder(t *testing.T) {
	t.Parallel()
	c := simcloud.NewVirtualClock(epoch)
	var got []string
	note := func(s string) func() {
		return func() { got = append(got, s+" "+c.Now().Sub(epoch).String()) }
	}
	c.AfterFunc(2*time.Second, note("b"))
	c.AfterFunc(time.Second, func() { note("a")(); c.AfterFunc(time.Second, note("d")) })
	c.AfterFunc(2*time.Second, note("c"))
	stop := c.AfterFunc(time.Second, note("never"))
	c.AfterFunc(time.Hour, note("later"))
	stop()
	stop()
	c.Advance(3 * time.Second)
	if diff := cmp.Diff([]string{"a 1s", "b 2s", "c 2s", "d 2s"}, got); diff != "" {
		t.Error(diff)
	}
	if now := c.Now().Sub(epoch); now != 3*time.Second {
		t.Errorf("time is %v", now)
	}
	if !c.Step() || c.Step() {
		t.Error("there was one timer left")
	}
}
