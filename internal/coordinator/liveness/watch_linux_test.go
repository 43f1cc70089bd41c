// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package liveness

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
)

func identified(t *testing.T, pid int) coordinator.Process {
	t.Helper()
	p, err := Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLook: a process is alive until it has ended, whether or not its parent
// has taken note; a number alone is no process.
func TestLook(t *testing.T) {
	t.Parallel()
	cmd := sleeper(t)
	p := identified(t, cmd.Process.Pid)
	want := func(what string, p coordinator.Process, want Fate) {
		t.Helper()
		if got := Look(p); got != want {
			t.Errorf("%s (%+v) is %s; want %s", what, p, got, want)
		}
	}
	want("a running process", p, Alive)
	parts := strings.Split(p.Started, "/")
	want("one that had the number before", coordinator.Process{PID: p.PID, Started: parts[0] + "/" + parts[1] + "/1"}, Dead)
	want("one of another boot", coordinator.Process{PID: p.PID, Started: "x/" + parts[1] + "/" + parts[2]}, Dead)
	want("one of another name space", coordinator.Process{PID: p.PID, Started: parts[0] + "/1/" + parts[2]}, Unknown)
	want("one without a start", coordinator.Process{PID: p.PID}, Unknown)
	for _, x := range []struct {
		started string
		foreign bool
		want    Fate
	}{
		{"unknown", false, Unknown},
		{"", false, Unknown},
		{"/", false, Unknown},
		{"1/" + parts[1] + "/" + parts[2], true, Unknown},
		{parts[0] + "/1/" + parts[2], true, Unknown},
		{parts[2], false, Alive},
		{p.Started, false, Alive},
	} {
		placed, foreign := Place(coordinator.Process{PID: p.PID, Started: x.started})
		if foreign != x.foreign {
			t.Errorf("one that began at %q is foreign: %v", x.started, foreign)
		}
		want("one that is placed from "+x.started, placed, x.want)
	}
	if !SameNumbers(p.PID) {
		t.Error("a child numbers processes otherwise")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); Look(p) != Dead; { // a zombie now
		if time.Since(begin) > patience {
			t.Fatal("a killed process does not end")
		}
		time.Sleep(time.Millisecond)
	}
	if _, err := Identify(p.PID); !errors.Is(err, ErrNoProcess) {
		t.Errorf("Identify of what has ended: %v", err)
	}
	_ = cmd.Wait() // it was killed
	want("a process that is gone", p, Dead)
}

// TestDeathIsTold: once the wrapper and all that it named are dead, and not
// before.
func TestDeathIsTold(t *testing.T) {
	t.Parallel()
	r, m := Open("", quietly()), newMourner()
	m.busy["a"] = true
	watched(t, r, m)
	wrapper, plugin := sleeper(t), sleeper(t)
	if err := r.Opened("a", identified(t, wrapper.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Name("a", []coordinator.Process{identified(t, plugin.Process.Pid)}); err != nil {
		t.Fatal(err)
	}
	kill(wrapper)
	// The plugin that was left behind may still send.
	time.Sleep(3 * scanEvery / 2)
	m.alone(t)
	kill(plugin)
	m.mourned(t, "a")
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, ok := r.Known("a"); !ok {
			break
		}
		if time.Since(begin) > patience {
			t.Fatal("the dead session is not forgotten")
		}
	}
}

// TestUnnamedSendersAreUnknown: of a session that has not said who sends, the
// wrapper's death says nothing while a call may be on its way, and enough when
// none is.
func TestUnnamedSendersAreUnknown(t *testing.T) {
	t.Parallel()
	r, m := Open("", quietly()), newMourner()
	m.busy["a"] = true
	watched(t, r, m)
	wrapper := sleeper(t)
	if err := r.Opened("a", identified(t, wrapper.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	kill(wrapper)
	time.Sleep(3 * scanEvery / 2)
	m.alone(t)
	m.mu.Lock()
	m.busy["a"] = false
	m.mu.Unlock()
	m.mourned(t, "a")
}

// TestUnknownSenderIsNeverDead: what cannot be told is not taken for death.
func TestUnknownSenderIsNeverDead(t *testing.T) {
	t.Parallel()
	r, m := Open("", quietly()), newMourner()
	m.busy["a"] = true
	watched(t, r, m)
	wrapper := sleeper(t)
	if err := r.Opened("a", identified(t, wrapper.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Name("a", []coordinator.Process{{PID: os.Getpid()}}); err != nil {
		t.Fatal(err)
	}
	kill(wrapper)
	time.Sleep(3 * scanEvery / 2)
	m.alone(t)
}

// TestDeathWhileNobodyWatched: a coordinator that comes back finds out, and
// tells again what could not be put on record.
func TestDeathWhileNobodyWatched(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "processes")
	wrapper, other := sleeper(t), sleeper(t)
	r := Open(path, quietly())
	if err := r.Opened("a", identified(t, wrapper.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Name("a", nil); err != nil {
		t.Fatal(err)
	}
	if err := r.Opened("b", identified(t, other.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	kill(wrapper)
	m := newMourner()
	m.busy["a"], m.fails = true, 2
	again := Open(path, quietly())
	watched(t, again, m)
	m.mourned(t, "a")
	m.alone(t)
}

// TestEndedSessionsAreDropped: the file does not grow for ever.
func TestEndedSessionsAreDropped(t *testing.T) {
	t.Parallel()
	r, m := Open("", quietly()), newMourner()
	if err := r.Opened("a", identified(t, os.Getpid())); err != nil {
		t.Fatal(err)
	}
	if err := r.Opened("b", identified(t, os.Getpid())); err != nil {
		t.Fatal(err)
	}
	m.ended["a"] = true
	watched(t, r, m)
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, ok := r.Known("a"); !ok {
			break
		}
		if time.Since(begin) > patience {
			t.Fatal("an ended session is never dropped")
		}
	}
	if _, ok := r.Known("b"); !ok {
		t.Error("a living session was dropped")
	}
}

// TestScanFindsDeath: processes for which there is no handle are looked at.
func TestScanFindsDeath(t *testing.T) {
	t.Parallel()
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	w := watch{alarm: a, fates: map[coordinator.Process]Fate{}}
	cmd := sleeper(t)
	p := identified(t, cmd.Process.Pid)
	w.fates[p], w.blind = Alive, []coordinator.Process{p}
	w.scan()
	if w.fates[p] != Alive || len(w.blind) != 1 || w.patience() != scanEvery {
		t.Fatalf("after a look at the living: %v, %v", w.fates, w.blind)
	}
	kill(cmd)
	w.scan()
	if w.fates[p] != Alive {
		t.Error("it was looked at again at once")
	}
	w.scanned = time.Time{}
	w.scan()
	if w.fates[p] != Dead || len(w.blind) != 0 {
		t.Errorf("after a look at the dead: %v, %v", w.fates, w.blind)
	}
}

// TestChangesWakeTheWatch: what is new is looked at at once.
func TestChangesWakeTheWatch(t *testing.T) {
	t.Parallel()
	r := Open("", quietly())
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	r.setAlarm(a)
	defer a.close()
	defer r.setAlarm(nil)
	if err := r.Opened("a", identified(t, os.Getpid())); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	a.wait(patience)
	if time.Since(begin) >= patience {
		t.Error("the watch slept on")
	}
}
