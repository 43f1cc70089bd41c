// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
)

const (
	// benchClients work on as many networks, so nobody waits for anybody.
	benchClients = 20
	// benchAppends is how many appends the raw figures rest on.
	benchAppends = 500
)

// admissionFigures is the JSON form of the benchmark's result. Times are in
// milliseconds. The bar is 5 ms plus three times the raw append: of single
// appends on their own right after the load, and of the appends under load.
type admissionFigures struct {
	Clients   int     `json:"clients"`
	Calls     int     `json:"calls"`
	CallMS    float64 `json:"call_ms"` // how long a provider call takes
	SubmitP50 float64 `json:"submit_p50_ms"`
	SubmitP99 float64 `json:"submit_p99_ms"`
	AppendP50 float64 `json:"append_p50_ms"`
	AppendP99 float64 `json:"append_p99_ms"`
	LoadedP50 float64 `json:"append_under_load_p50_ms"`
	LoadedP99 float64 `json:"append_under_load_p99_ms"`
	BarP99    float64 `json:"bar_p99_ms"`
	Ratio     float64 `json:"submit_p99_to_bar"`
	// LoadedRatio takes the appends under load for the bar.
	LoadedRatio float64 `json:"submit_p99_to_bar_under_load"`
	// AppendsPerCall is below 3 (submit, start, complete) thanks to group
	// commit.
	AppendsPerCall float64 `json:"appends_per_call"`
}

// BenchmarkAdmission measures submit-to-admitted over the socket with twenty
// clients on twenty networks, and raw appends of the same journal in the same
// run. A client's provider call takes some time between start and complete, as
// any cloud's does; without that the clients only measure how much the machine
// can do at once. With WEAVER_BENCH_JSON set to a path, the figures are
// written there.
func BenchmarkAdmission(b *testing.B) {
	calls := []time.Duration{50 * time.Millisecond, 0}
	figures := make([]admissionFigures, len(calls))
	for i, call := range calls {
		b.Run(fmt.Sprintf("call=%s", call), func(b *testing.B) {
			figures[i] = benchAdmission(b, call) // the last run is the longest
		})
	}
	writeFigures(b, figures)
}

func benchAdmission(b *testing.B, call time.Duration) admissionFigures {
	b.Helper()
	dir, err := os.MkdirTemp("", "weaver")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := bboltjournal.Open(filepath.Join(dir, "state"))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	j := &coordinatortest.Journal{Journal: store}
	latencies, size := benchCalls(b, j, "unix://"+filepath.Join(dir, "s"), call)
	raw := benchRaw(b, store, size)

	f := admissionFigures{
		Clients: benchClients, Calls: len(latencies), CallMS: call.Seconds() * 1000,
		SubmitP50: quantile(latencies, 0.50), SubmitP99: quantile(latencies, 0.99),
		AppendP50: quantile(raw, 0.50), AppendP99: quantile(raw, 0.99),
		LoadedP50: quantile(j.Took(), 0.50), LoadedP99: quantile(j.Took(), 0.99),
		AppendsPerCall: float64(j.Appends.Load()) / float64(len(latencies)),
	}
	f.BarP99 = 5 + 3*f.AppendP99
	f.Ratio = f.SubmitP99 / f.BarP99
	f.LoadedRatio = f.SubmitP99 / (5 + 3*f.LoadedP99)
	b.ReportMetric(f.SubmitP50, "submit-p50-ms")
	b.ReportMetric(f.SubmitP99, "submit-p99-ms")
	b.ReportMetric(f.AppendP50, "append-p50-ms")
	b.ReportMetric(f.AppendP99, "append-p99-ms")
	b.ReportMetric(f.LoadedP99, "loaded-append-p99-ms")
	b.ReportMetric(f.Ratio, "submit-p99/bar")
	b.ReportMetric(f.LoadedRatio, "submit-p99/loaded-bar")
	b.ReportMetric(f.AppendsPerCall, "appends/call")
	return f
}

// benchCalls runs whole calls and returns how long each was in being admitted,
// and the mean size of a record.
func benchCalls(b *testing.B, j *coordinatortest.Journal, address string, call time.Duration) ([]time.Duration, int) {
	b.Helper()
	c, err := coordinator.New(b.Context(), coordinator.Config{Journal: j})
	if err != nil {
		b.Fatal(err)
	}
	l, err := server.Listen(b.Context(), address)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() { served <- server.New(c).Serve(ctx, l, 0) }()

	var clients []*client.Client
	var sessions []*client.Session
	for i := range benchClients {
		conn, err := client.Dial(b.Context(), address)
		if err != nil {
			b.Fatal(err)
		}
		s, err := conn.Open(b.Context(), client.SessionConfig{Actor: fmt.Sprintf("bench%d", i), Lease: time.Hour})
		if err != nil {
			b.Fatal(err)
		}
		clients, sessions = append(clients, conn), append(sessions, s)
	}
	b.ResetTimer()
	latencies := benchSessions(b, sessions, call)
	b.StopTimer()
	for i := range sessions {
		_, err := sessions[i].Close(b.Context())
		if err := errors.Join(err, clients[i].Close()); err != nil {
			b.Error(err)
		}
	}
	cancel()
	if err := errors.Join(<-served, c.Close(context.Background())); err != nil {
		b.Error(err)
	}
	return latencies, meanRecord(b, j)
}

// benchSessions divides the calls among the sessions.
func benchSessions(b *testing.B, sessions []*client.Session, call time.Duration) []time.Duration {
	b.Helper()
	var (
		next atomic.Int64
		all  sync.WaitGroup
		took = make([][]time.Duration, len(sessions))
	)
	for i, s := range sessions {
		all.Go(func() {
			network := fmt.Sprintf("n%d", i)
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				began := time.Now()
				g, err := s.Submit(b.Context(), coordinatortest.Write(network, fmt.Sprint(n%50), admission.Update), "", nil)
				took[i] = append(took[i], time.Since(began))
				if err == nil {
					err = g.Start(b.Context())
				}
				if err == nil {
					time.Sleep(call)
					err = g.Complete(b.Context(), client.Outcome{Result: admission.Succeeded, Exists: true})
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return slices.Concat(took...)
}

func meanRecord(b *testing.B, j journal.Journal) int {
	b.Helper()
	size, n := 0, 0
	last, err := j.Last(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	from := journal.Index(1)
	if last > benchAppends {
		from = last - benchAppends
	}
	for r, err := range j.Read(b.Context(), from) {
		if err != nil {
			b.Fatal(err)
		}
		size += len(r.Data)
		n++
	}
	return size / max(n, 1)
}

// benchRaw times single appends to the same file.
func benchRaw(b *testing.B, j journal.Journal, size int) []time.Duration {
	b.Helper()
	epoch, err := j.Lead(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	last, err := j.Last(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	data := make([]byte, size)
	took := make([]time.Duration, 0, benchAppends)
	for range benchAppends {
		began := time.Now()
		if last, err = j.Append(b.Context(), epoch, last, [][]byte{data}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	return took
}

// quantile is in milliseconds.
func quantile(list []time.Duration, q float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return float64(sorted[int(q*float64(len(sorted)-1))]) / float64(time.Millisecond)
}

func writeFigures(b *testing.B, f []admissionFigures) {
	b.Helper()
	path := os.Getenv("WEAVER_BENCH_JSON")
	if path == "" {
		return
	}
	data, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, append(data, '\n'), 0o644)
	}
	if err != nil {
		b.Error(err)
	}
}
