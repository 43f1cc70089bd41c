// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package throughput_test measures what the coordinator costs over the journal
// that it keeps, and how long it takes to come back.
package throughput_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

const (
	// rounds is how often the subjects of a row take turns; a ratio is the
	// median over the rounds.
	rounds = 5
	// sliceLength and sliceLimit end a subject's turn, by time or by number:
	// without a disk, time alone would fill the memory.
	sliceLength = 400 * time.Millisecond
	sliceLimit  = 40_000
)

// The bars of 64 clients: admissions in process, and through gRPC, over the
// appends of the same journal.
const (
	barClients = 64
	barProcess = 0.4
	barRemote  = 0.1
)

// row is one line of the table. An admission is one Submit that was journalled
// and answered. Raw is the rate of group commit of records of the size that a
// Submit has. Process and GRPC are admissions alone; the Withdraw that gives
// each back comes between the timed parts. The steady figures are of clients
// that submit and withdraw in turn: Admissions count the Submits, Commits both.
// Rates are per second, times in microseconds; ratios are medians over rounds in
// which the subjects took turns.
type row struct {
	Journal string `json:"journal"`
	Clients int    `json:"clients"`
	Record  int    `json:"record_bytes"`

	Raw     figures `json:"raw"`
	Process figures `json:"process"`
	GRPC    figures `json:"grpc"`

	ProcessRatio float64 `json:"process_to_raw"`
	GRPCRatio    float64 `json:"grpc_to_raw"`

	SteadyProcess steadyFigures `json:"process_steady"`
	SteadyGRPC    steadyFigures `json:"grpc_steady"`
}

// figures are of one subject.
type figures struct {
	Rate float64 `json:"per_second"`
	P50  float64 `json:"p50_us"`
	P99  float64 `json:"p99_us"`
	// CPU is the processor time per commit, clients included; it hardly depends
	// on what else the machine does.
	CPU float64 `json:"cpu_us"`
}

// steadyFigures are of clients that take and give back in turn.
type steadyFigures struct {
	Admissions     float64 `json:"admissions_per_second"`
	Commits        float64 `json:"commits_per_second"`
	P50            float64 `json:"admission_p50_us"`
	P99            float64 `json:"admission_p99_us"`
	AdmissionRatio float64 `json:"admissions_to_raw"`
	CommitRatio    float64 `json:"commits_to_raw"`
}

// report is the content of durable.json.
type report struct {
	CPUs       int     `json:"cpus"`
	Rounds     int     `json:"rounds"`
	BarClients int     `json:"bar_clients"`
	BarProcess float64 `json:"bar_process_to_raw"`
	BarGRPC    float64 `json:"bar_grpc_to_raw"`
	Rows       []row   `json:"rows"`
	Profiles   []share `json:"profiles"`
}

// BenchmarkDurable compares durable admissions with the group commit of the
// same journal, for each kind of journal and number of clients, and profiles
// 64 clients on a disk. It takes its time however small b.N is. With BENCH_JSON
// set to a folder, durable.json and the profiles are written there.
func BenchmarkDurable(b *testing.B) {
	r := report{CPUs: runtime.GOMAXPROCS(0), Rounds: rounds, BarClients: barClients, BarProcess: barProcess, BarGRPC: barRemote}
	for _, s := range stores() {
		for _, n := range []int{1, 8, 64, 256} {
			b.Run(fmt.Sprintf("journal=%s,clients=%d", s.name, n), func(b *testing.B) {
				got := measure(newPlace(b, s, n))
				got.metrics(b)
				r.Rows = append(r.Rows, got)
			})
		}
	}
	b.Run("profile", func(b *testing.B) {
		r.Profiles = profiles(b, stores()[1], barClients)
	})
	if len(r.Rows) > 0 {
		r.print()
	}
	printShares(r.Profiles)
	writeJSON(b, "durable.json", r)
}

// turn is a subject with the way in which it is put under load.
type turn struct {
	subject subject
	load    func(subject, int, time.Duration, int64) (sample, error)
	all     sample
	rates   []float64 // of commits, by round
}

// measure lets the subjects take turns.
func measure(p place) row {
	process, j, closeProcess := p.inProcess()
	defer closeProcess()
	remote, closeRemote := p.remote()
	defer closeRemote()
	size := submitSize(p, process, j)
	raw, closeRaw := p.raw(size)
	defer closeRaw()
	turns := []*turn{
		{subject: raw, load: steady},
		{subject: process, load: burst},
		{subject: remote, load: burst},
		{subject: process, load: steady},
		{subject: remote, load: steady},
	}
	for range rounds {
		for _, t := range turns {
			if err := t.subject.begin(); err != nil {
				p.b.Fatalf("%s: %v", t.subject.name, err)
			}
			got, err := t.load(t.subject, p.n, sliceLength, sliceLimit)
			if err != nil {
				p.b.Fatalf("%s: %v", t.subject.name, err)
			}
			t.all.add(got)
			t.rates = append(t.rates, got.commitRate())
		}
	}
	return newRow(p, size, turns)
}

func newRow(p place, size int, turns []*turn) row {
	raw := turns[0]
	return row{
		Journal: p.store.name, Clients: p.n, Record: size,
		Raw: raw.figures(), Process: turns[1].figures(), GRPC: turns[2].figures(),
		ProcessRatio: turns[1].over(raw), GRPCRatio: turns[2].over(raw),
		SteadyProcess: turns[3].steady(raw), SteadyGRPC: turns[4].steady(raw),
	}
}

func (t *turn) figures() figures {
	slices.Sort(t.all.took)
	return figures{Rate: median(t.rates), P50: quantile(t.all.took, 0.50), P99: quantile(t.all.took, 0.99), CPU: t.cpu()}
}

// cpu is the processor time per commit in microseconds.
func (t *turn) cpu() float64 {
	return float64(t.all.cpu) / float64(time.Microsecond) / float64(max(1, t.all.commits))
}

// over is the median of the ratios by round.
func (t *turn) over(raw *turn) float64 {
	ratios := make([]float64, len(t.rates))
	for i := range ratios {
		ratios[i] = t.rates[i] / raw.rates[i]
	}
	return median(ratios)
}

func (t *turn) steady(raw *turn) steadyFigures {
	f := t.figures()
	both := float64(t.all.commits+t.all.releases) / float64(t.all.commits)
	return steadyFigures{
		Admissions: f.Rate, Commits: f.Rate * both, P50: f.P50, P99: f.P99,
		AdmissionRatio: t.over(raw), CommitRatio: t.over(raw) * both,
	}
}

// submitSize is the size of the record of one admission; it warms up the
// coordinator, which then knows all nodes, as one does that has been up for a
// while.
func submitSize(p place, s subject, j journal.Journal) int {
	if err := cmp.Or(s.begin(), warm(s, p.n)); err != nil {
		p.b.Fatal(err)
	}
	size, n := 0, 0
	if err := s.commit(0, 0); err != nil {
		p.b.Fatal(err)
	}
	for r, err := range j.Read(p.b.Context(), 1) {
		if err != nil {
			p.b.Fatal(err)
		}
		if record, err := admission.DecodeRecord(r.Data); err != nil {
			p.b.Fatal(err)
		} else if _, ok := record.Command.(admission.Submit); ok {
			size, n = len(r.Data), n+1
		}
	}
	if n == 0 {
		p.b.Fatal("no record of a Submit")
	}
	if err := s.release(0, 0); err != nil {
		p.b.Fatal(err)
	}
	return size
}

func warm(s subject, n int) error {
	_, err := burst(s, n, time.Nanosecond, 1)
	return err
}

// begin makes the state of the subject a fresh one; nobody pays for the turn
// before.
func (s subject) begin() error {
	if s.renew != nil {
		if err := s.renew(); err != nil {
			return err
		}
	}
	runtime.GC()
	return nil
}

func (r row) metrics(b *testing.B) {
	b.ReportMetric(r.Raw.Rate, "raw/s")
	b.ReportMetric(r.Process.Rate, "process/s")
	b.ReportMetric(r.GRPC.Rate, "grpc/s")
	b.ReportMetric(r.ProcessRatio, "process/raw")
	b.ReportMetric(r.GRPCRatio, "grpc/raw")
}

func (r report) print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "journal\tclients\trecord B\traw/s\tp50 µs\tp99 µs\tCPU µs\tadmitted/s\tp50\tp99\tCPU\t/raw\tgRPC/s\tp50\tp99\tCPU\t/raw\tsteady: admitted/s\tcommits/s\t/raw\tgRPC admitted/s\tcommits/s\t/raw\t")
	for _, x := range r.Rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t", x.Journal, x.Clients, x.Record)
		fmt.Fprintf(w, "%.0f\t%.0f\t%.0f\t%.1f\t", x.Raw.Rate, x.Raw.P50, x.Raw.P99, x.Raw.CPU)
		fmt.Fprintf(w, "%.0f\t%.0f\t%.0f\t%.1f\t%.2f\t", x.Process.Rate, x.Process.P50, x.Process.P99, x.Process.CPU, x.ProcessRatio)
		fmt.Fprintf(w, "%.0f\t%.0f\t%.0f\t%.1f\t%.2f\t", x.GRPC.Rate, x.GRPC.P50, x.GRPC.P99, x.GRPC.CPU, x.GRPCRatio)
		for _, s := range []steadyFigures{x.SteadyProcess, x.SteadyGRPC} {
			fmt.Fprintf(w, "%.0f\t%.0f\t%.2f\t", s.Admissions, s.Commits, s.CommitRatio)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	fmt.Printf("bar at %d clients: in process >= %.1f, gRPC >= %.1f of raw; an admission is one record; steady: each is given back, both are records\n",
		r.BarClients, r.BarProcess, r.BarGRPC)
}

// outDir is where results go: the folder in BENCH_JSON, or a temporary one.
func outDir(b *testing.B) string {
	dir := cmp.Or(strings.TrimSpace(os.Getenv("BENCH_JSON")), b.TempDir())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	return dir
}

func writeJSON(b *testing.B, name string, v any) {
	b.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(outDir(b), name), append(data, '\n'), 0o644)
	}
	if err != nil {
		b.Error(err)
	}
}
