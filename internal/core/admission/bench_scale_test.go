// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// admissionRow is what one size of the cloud costs. Times are nanoseconds for one
// acquire and release of a plan of six locks, by the processor time used, that of
// the garbage collector included, and by the clock; "whole" is Submit, Start and
// Complete, "table" the lock table alone.
type admissionRow struct {
	Nodes            int     `json:"nodes"`
	HeldByOthers     int     `json:"calls_that_hold_locks"`
	LocksInPlan      int     `json:"locks_in_plan"`
	WholeNanoseconds float64 `json:"whole_admission_cpu_ns"`
	TableNanoseconds float64 `json:"lock_table_cpu_ns"`
	WholeByTheClock  float64 `json:"whole_admission_clock_ns"`
	TableByTheClock  float64 `json:"lock_table_clock_ns"`
	NodesTouched     int     `json:"nodes_touched"`
	Looks            int     `json:"looks_at_nodes"`
}

// storageRow is what one size of the cloud takes.
type storageRow struct {
	Nodes               int     `json:"nodes"`
	HeapBytesPerNode    float64 `json:"heap_bytes_per_node"`
	HeapBytes           uint64  `json:"heap_bytes_in_use"`
	ResidentBytes       uint64  `json:"resident_bytes,omitempty"`
	SnapshotBytes       int64   `json:"snapshot_bytes"`
	WriteSeconds        float64 `json:"snapshot_write_clock_seconds"`
	ReadSeconds         float64 `json:"snapshot_read_clock_seconds"`
	WriteCPUSeconds     float64 `json:"snapshot_write_cpu_seconds"`
	ReadCPUSeconds      float64 `json:"snapshot_read_cpu_seconds"`
	CloneNanoseconds    int64   `json:"clone_ns"`
	AfterCloneNanosecs  int64   `json:"first_admission_after_clone_ns"`
	PeakResidentOfARead uint64  `json:"peak_resident_bytes,omitempty"`
}

type scaleReport struct {
	Bars      []bar          `json:"bars"`
	Admission []admissionRow `json:"admission"`
	Storage   []storageRow   `json:"storage"`
}

// BenchmarkScale is admission, memory and snapshots from a thousand nodes to a
// million. With BENCH_JSON set to a folder, the figures go to
// admission_core.json there.
func BenchmarkScale(b *testing.B) {
	sizes := []int{1_000, 10_000, 100_000, 1_000_000}
	if testing.Short() {
		sizes = sizes[:3]
	}
	var r scaleReport
	for _, nodes := range sizes {
		r.size(b, nodes)
	}
	r.judge()
	r.print()
	r.save(b)
}

// size measures one cloud. It is read from a snapshot, as a leader has it.
func (r *scaleReport) size(b *testing.B, nodes int) {
	file := filepath.Join(b.TempDir(), "snapshot")
	var row storageRow
	row.write(b, populated(b, nodes), file)
	s := row.read(b, file)
	held := 0
	for _, n := range []int{0, 1000, 10_000, 50_000} {
		if n > nodes/4 {
			continue
		}
		hold(b, s, nodes, held, n)
		held = n
		r.admission(b, s, row.Nodes, nodes, held)
	}
	row.clone(b, s)
	r.Storage = append(r.Storage, row)
}

// admission measures a cloud of so many nodes, of which about some were asked for.
func (r *scaleReport) admission(b *testing.B, s *State, have, nodes, held int) {
	row := admissionRow{Nodes: have, HeldByOthers: held}
	requests := make([]Request, min(nodes/4, 2000))
	for i := range requests {
		requests[i] = write("a", Update, deep(i*(nodes/4/len(requests))))
	}
	row.LocksInPlan = len(requests[0].Locks)
	count := touched(b, s, requests[0])
	row.NodesTouched, row.Looks = len(count.nodes), count.looks
	b.Run(fmt.Sprintf("nodes=%d/held=%d/whole", nodes, held), func(b *testing.B) {
		done := len(s.retired.Items()) + int(s.index) // names of their own
		row.WholeNanoseconds, row.WholeByTheClock = perLoop(b, func(i int) {
			carry(b, s, TxID("t"+strconv.Itoa(done+i)), requests[i%len(requests)])
		})
	})
	b.Run(fmt.Sprintf("nodes=%d/held=%d/table", nodes, held), func(b *testing.B) {
		row.TableNanoseconds, row.TableByTheClock = perLoop(b, func(i int) {
			owner := lock.Owner(requests[i%len(requests)].Self)
			if err := s.locks.Acquire(owner, requests[i%len(requests)].Locks); err != nil {
				b.Fatal(err)
			}
			s.locks.Release(owner)
		})
	})
	if row.WholeNanoseconds > 0 && row.TableNanoseconds > 0 { // both were asked for
		r.Admission = append(r.Admission, row)
	}
}

// perLoop is what one call of f takes, of the processors and by the clock.
func perLoop(b *testing.B, f func(i int)) (cpu, clock float64) {
	b.Helper()
	b.ReportAllocs()
	begun := cpuTime()
	for i := 0; b.Loop(); i++ {
		f(i)
	}
	cpu = float64((cpuTime() - begun).Nanoseconds()) / float64(b.N)
	b.ReportMetric(cpu, "cpu-ns/op")
	return cpu, float64(b.Elapsed().Nanoseconds()) / float64(b.N)
}

func (row *storageRow) write(b *testing.B, s *State, file string) {
	f, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	begun, cpu := time.Now(), cpuTime()
	if err := s.WriteSnapshot(f); err != nil {
		b.Fatal(err)
	}
	row.WriteCPUSeconds = (cpuTime() - cpu).Seconds()
	row.Nodes, row.WriteSeconds = s.graph.Len(), time.Since(begun).Seconds()
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	row.SnapshotBytes = info.Size()
}

func (row *storageRow) read(b *testing.B, file string) *State {
	before := inUse()
	f, err := os.Open(file)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	begun, cpu := time.Now(), cpuTime()
	s, err := ReadSnapshot(f)
	if err != nil {
		b.Fatal(err)
	}
	row.ReadCPUSeconds = (cpuTime() - cpu).Seconds()
	row.ReadSeconds = time.Since(begun).Seconds()
	row.PeakResidentOfARead = resident()
	row.HeapBytes = inUse() - before
	row.HeapBytesPerNode = float64(row.HeapBytes) / float64(row.Nodes)
	row.ResidentBytes = resident()
	return s
}

func (row *storageRow) clone(b *testing.B, s *State) {
	begun := time.Now()
	c := s.Clone()
	row.CloneNanoseconds = time.Since(begun).Nanoseconds()
	begun = time.Now()
	carry(b, s, "first", write("a", Update, deep(7)))
	row.AfterCloneNanosecs = time.Since(begun).Nanoseconds()
	runtime.KeepAlive(c)
}

// inUse is the heap that is in use after everything else was given back.
func inUse() uint64 {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// resident is the memory of this process, where the system tells: else 0.
func resident() uint64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		if text, ok := strings.CutPrefix(s.Text(), "VmRSS:"); ok {
			kib, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}

func mib(n uint64) string { return fmt.Sprintf("%d MiB", n>>20) }

func (r *scaleReport) print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "\nnodes\theld by others\twhole admission, CPU\tby the clock\tlock table, CPU\tby the clock\tnodes touched\tlooks")
	for _, x := range r.Admission {
		fmt.Fprintf(w, "%d\t%d\t%.2f us\t%.2f us\t%.2f us\t%.2f us\t%d\t%d\n", x.Nodes, x.HeldByOthers,
			x.WholeNanoseconds/1e3, x.WholeByTheClock/1e3, x.TableNanoseconds/1e3, x.TableByTheClock/1e3, x.NodesTouched, x.Looks)
	}
	fmt.Fprintln(w, "\nnodes\theap per node\theap\tresident\tpeak of the read\tsnapshot\twritten in\tread in\tclone\tfirst admission after it")
	for _, x := range r.Storage {
		fmt.Fprintf(w, "%d\t%.0f B\t%s\t%s\t%s\t%s\t%.2f s\t%.2f s\t%d ns\t%.1f us\n",
			x.Nodes, x.HeapBytesPerNode, mib(x.HeapBytes), mib(x.ResidentBytes), mib(x.PeakResidentOfARead), mib(uint64(x.SnapshotBytes)),
			x.WriteSeconds, x.ReadSeconds, x.CloneNanoseconds, float64(x.AfterCloneNanosecs)/1e3)
	}
	for _, x := range r.Bars {
		fmt.Fprintf(w, "%s\t%s\t%s\tmet: %t\n", x.Figure, x.Bar, x.Measured, x.Met)
	}
}

func (r *scaleReport) save(b *testing.B) {
	folder := os.Getenv("BENCH_JSON")
	if folder == "" {
		return
	}
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		b.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "admission_core.json"), append(data, '\n'), 0o644); err != nil {
		b.Fatal(err)
	}
}
