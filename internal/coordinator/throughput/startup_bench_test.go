// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package throughput_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
)

const (
	// recoverNodes is how many nodes the snapshot has; BENCH_NODES sets another
	// number.
	recoverNodes = 1_000_000
	// barRecovery is how long it may take with recoverNodes, in seconds.
	barRecovery = 10
	// barPeak is how much memory it may take with recoverNodes, in MiB.
	barPeak = 1024
	// seenAtOnce is how many objects one Observe tells of.
	seenAtOnce = 10_000
)

// recovery is the content of recovery.json. Times are in seconds, sizes in MiB.
// Seconds are from opening the journal to the first answer; CPU is the
// processor time of the whole process meanwhile, all goroutines together.
type recovery struct {
	Nodes    int     `json:"nodes"`
	Snapshot float64 `json:"snapshot_mib"`
	Seconds  float64 `json:"seconds"`
	CPU      float64 `json:"cpu_seconds"`
	Bar      float64 `json:"bar_seconds"`
	// Heap is what is in use once all is loaded and garbage is collected, Peak
	// the most the process had from the system while it loaded, and Saving the
	// most while it wrote the next snapshot. The pages of the journal's file are
	// the system's and not among them.
	Heap    float64 `json:"heap_mib"`
	Peak    float64 `json:"peak_mib"`
	Saving  float64 `json:"saving_peak_mib"`
	BarPeak float64 `json:"bar_peak_mib"`
}

// BenchmarkRecovery times the whole way of a coordinator with a large snapshot
// from opening its journal, through every check of the file, to its first
// answer. With BENCH_JSON set to a folder, recovery.json is written there.
func BenchmarkRecovery(b *testing.B) {
	nodes := recoverNodes
	if n, err := strconv.Atoi(os.Getenv("BENCH_NODES")); err == nil {
		nodes = n
	}
	dir := b.TempDir()
	size := makeStore(b, dir, nodes)
	r := recovery{Nodes: nodes, Snapshot: mib(uint64(size)), Bar: barRecovery, BarPeak: barPeak}
	for b.Loop() {
		debug.FreeOSMemory() // what made the store is not counted
		r.once(b, dir)
	}
	b.ReportMetric(r.Seconds, "s")
	b.ReportMetric(r.CPU, "cpu-s")
	b.ReportMetric(r.Heap, "heap-MiB")
	b.ReportMetric(r.Peak, "peak-MiB")
	b.ReportMetric(r.Saving, "saving-MiB")
	fmt.Printf("recovery: %d nodes, snapshot %.0f MiB: %.2f s (%.2f s of processors; bar %d s), heap %.0f MiB after, at most %.0f MiB while loading, %.0f MiB while saving (bar %d MiB)\n",
		r.Nodes, r.Snapshot, r.Seconds, r.CPU, barRecovery, r.Heap, r.Peak, r.Saving, barPeak)
	writeJSON(b, "recovery.json", r)
}

func (r *recovery) once(b *testing.B, dir string) {
	b.Helper()
	watch := watchMemory()
	began, cpu := time.Now(), processorTime()
	j, err := bboltjournal.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	c, err := coordinator.New(b.Context(), coordinator.Config{Journal: j})
	if err != nil {
		b.Fatal(err)
	}
	if _, _, err := c.Lookup(b.Context(), []graph.NodeID{"sim/sub-1"}); err != nil {
		b.Fatal(err)
	}
	r.Seconds, r.CPU = time.Since(began).Seconds(), (processorTime() - cpu).Seconds()
	r.Peak = mib(watch())
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.Heap = mib(m.HeapAlloc)
	debug.FreeOSMemory()
	watch = watchMemory()
	change(b, c) // something that the last snapshot has to cover
	if err := c.Close(context.Background()); err != nil {
		b.Error(err)
	}
	r.Saving = mib(watch())
	if err := j.Close(); err != nil {
		b.Error(err)
	}
}

func change(b *testing.B, c *coordinator.Coordinator) {
	b.Helper()
	session := admission.Session{Actor: "bench", Policy: admission.Queue, Lease: int64(time.Hour)}
	if _, err := c.OpenSession(b.Context(), session, admission.Intent{}); err != nil {
		b.Fatal(err)
	}
}

func mib(n uint64) float64 { return float64(n) / (1 << 20) }

// watchMemory looks from time to time at how much memory the process has from
// the system and does not give back; the function returned says the most.
func watchMemory() func() uint64 {
	var m runtime.MemStats
	most := func(had uint64) uint64 {
		runtime.ReadMemStats(&m)
		return max(had, m.Sys-m.HeapReleased)
	}
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		had, tick := most(0), time.NewTicker(50*time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				had = most(had)
			case <-stop:
				peak <- most(had)
				return
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-peak
	}
}

// makeStore writes a journal whose snapshot has so many nodes, all observed, in
// groups of a thousand. There is one record, so that there is something to
// cover.
func makeStore(b *testing.B, dir string, nodes int) int {
	b.Helper()
	state := admission.New()
	apply := func(c admission.Command) {
		if _, err := state.Apply(c); err != nil {
			b.Fatal(err)
		}
	}
	apply(admission.OpenSession{
		Stamp: admission.Stamp{Now: 1}, Intent: admission.Intent{ID: "i", Session: "s"},
		Session: admission.Session{ID: "s", Actor: "bench", Policy: admission.Queue, Lease: int64(time.Hour)},
	})
	for from := 0; from < nodes; from += seenAtOnce {
		apply(observation(from, min(from+seenAtOnce, nodes)))
	}
	j, err := bboltjournal.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	epoch, err := j.Lead(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	last := journal.Index(0)
	for uint64(last) < state.Index() { // the snapshot covers them: nobody reads what they say
		if last, err = j.Append(b.Context(), epoch, last, [][]byte{[]byte("{}")}); err != nil {
			b.Fatal(err)
		}
	}
	var data bytes.Buffer
	if err := state.WriteSnapshot(&data); err != nil {
		b.Fatal(err)
	}
	if err := j.SaveSnapshot(b.Context(), epoch, last, bytes.NewReader(data.Bytes())); err != nil {
		b.Fatal(err)
	}
	return data.Len()
}

// observation is of the objects with these numbers.
func observation(from, to int) admission.Observe {
	const realm graph.NodeID = "sim/sub-1"
	see := admission.Observe{Stamp: admission.Stamp{Now: 2}, Session: "s", Began: 1, Nodes: []graph.Decl{{ID: realm, Kind: graph.Realm}}}
	for i := from; i < to; i++ {
		group := realm + graph.NodeID(fmt.Sprintf("/group/g%d", i/1000))
		if i%1000 == 0 {
			see.Nodes = append(see.Nodes, graph.Decl{ID: group, Parent: realm, Kind: graph.Resource, Type: "sim_group"})
		}
		see.Objects = append(see.Objects, admission.Observation{
			Decl:   graph.Decl{ID: group + graph.NodeID(fmt.Sprintf("/net/n%d", i)), Parent: group, Kind: graph.Resource, Type: "sim_network"},
			Exists: true, Edges: []graph.Edge{},
		})
	}
	return see
}
