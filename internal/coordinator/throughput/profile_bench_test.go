// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package throughput_test

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

const (
	// profileLength is how long each subject is profiled.
	profileLength = 2 * time.Second
	// blockRate makes the block profile sample one blocking event per so many
	// nanoseconds spent blocked.
	blockRate = 100_000
)

// share is where the processor time of one subject went.
type share struct {
	Subject string `json:"subject"`
	// CPUs is the mean number of processors that were busy.
	CPUs  float64            `json:"busy_cpus"`
	Parts map[string]float64 `json:"share_by_part"`
}

// part is a kind of work, told by functions on the stack.
type part struct {
	name   string
	frames []string
}

// parts are looked for from the innermost function outwards; for each function
// the first part that matches counts.
func parts() []part {
	return []part{
		{"journal", []string{"internal/journal/", "go.etcd.io/bbolt"}},
		{"collecting garbage", []string{"runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart"}},
		{"encoding records", []string{"admission.EncodeRecord", "admission.AppendRecord"}},
		{"snapshots", []string{"admission.(*State).MarshalJSON", "admission.(*State).Clone", "coordinator.(*realm).save"}},
		{"deciding (core)", []string{"admission.(*State).", "admission.(*decision)."}},
		{"requests as JSON", []string{"server.readRequest", "server.readJSON"}},
		{"gRPC", []string{"google.golang.org/grpc", "google.golang.org/protobuf", "golang.org/x/net/http2"}},
		{"coordinator", []string{"internal/coordinator."}},
		{"server and client", []string{"internal/coordinator/server", "internal/coordinator/client"}},
		{"the benchmark", []string{"throughput_test."}},
		{"scheduling", []string{"runtime.mcall", "runtime.schedule", "runtime.park_m", "runtime.findRunnable", "runtime.mstart", "runtime.systemstack", "runtime.goexit0", "runtime.morestack"}},
	}
}

// profiles takes CPU and block profiles of the steady load, where each
// admission is given back, and prints where the time went.
func profiles(b *testing.B, s store, n int) []share {
	b.Helper()
	dir := outDir(b)
	p := newPlace(b, s, n)
	process, j, closeProcess := p.inProcess()
	size := submitSize(p, process, j)
	raw, closeRaw := p.raw(size)
	list := []share{profile(p, dir, raw)}
	closeRaw()
	list = append(list, profile(p, dir, process))
	closeProcess()
	remote, closeRemote := p.remote()
	list = append(list, profile(p, dir, remote))
	closeRemote()
	return list
}

func profile(p place, dir string, s subject) share {
	p.b.Helper()
	base := filepath.Join(dir, "durable-"+s.name)
	out, err := os.Create(base + ".cpu.pprof")
	if err != nil {
		p.b.Fatal(err)
	}
	defer out.Close()
	if err := s.begin(); err != nil {
		p.b.Fatal(err)
	}
	runtime.SetBlockProfileRate(blockRate)
	if err := pprof.StartCPUProfile(out); err != nil {
		p.b.Fatal(err) // such as by -cpuprofile
	}
	got, err := steady(s, p.n, profileLength, 1<<40)
	pprof.StopCPUProfile()
	runtime.SetBlockProfileRate(0)
	if err != nil {
		p.b.Fatal(err)
	}
	blocked, err := os.Create(base + ".block.pprof")
	if err == nil {
		err = cmp.Or(pprof.Lookup("block").WriteTo(blocked, 0), blocked.Close())
	}
	if err != nil {
		p.b.Error(err)
	}
	return summarise(p.b, s.name, out.Name(), got.spent)
}

// summarise adds the samples of a CPU profile up by part. The stacks are those
// that `go tool pprof -traces` prints: a line of dashes, then the innermost
// function with the time before it, then its callers.
func summarise(b *testing.B, name, path string, spent time.Duration) share {
	b.Helper()
	text, err := exec.Command("go", "tool", "pprof", "-traces", "-nodefraction=0", path).Output()
	if err != nil {
		b.Fatalf("go tool pprof: %v", err)
	}
	byPart, total := map[string]time.Duration{}, time.Duration(0)
	for _, t := range traces(text) {
		byPart[kindOf(t.frames)] += t.spent
		total += t.spent
	}
	s := share{Subject: name, CPUs: total.Seconds() / spent.Seconds(), Parts: map[string]float64{}}
	for k, v := range byPart {
		s.Parts[k] = v.Seconds() / total.Seconds()
	}
	return s
}

// trace is one stack of a profile, innermost function first.
type trace struct {
	spent  time.Duration
	frames []string
}

func traces(text []byte) []trace {
	var (
		list []trace
		lead bool
	)
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "-----------+") {
			lead = true
			continue
		}
		fields := strings.Fields(line)
		switch {
		case lead && len(fields) >= 2:
			spent, err := time.ParseDuration(fields[0])
			if err != nil {
				continue // a label
			}
			list = append(list, trace{spent: spent, frames: []string{fields[1]}})
			lead = false
		case !lead && len(fields) >= 1 && len(list) > 0:
			list[len(list)-1].frames = append(list[len(list)-1].frames, fields[0])
		}
	}
	return list
}

func kindOf(frames []string) string {
	for _, f := range frames {
		for _, p := range parts() {
			if slices.ContainsFunc(p.frames, func(s string) bool { return strings.Contains(f, s) }) {
				return p.name
			}
		}
	}
	return "the rest"
}

func printShares(list []share) {
	if len(list) == 0 {
		return
	}
	names := map[string]bool{}
	for _, s := range list {
		for k := range s.Parts {
			names[k] = true
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "share of processor time\t")
	for _, s := range list {
		fmt.Fprintf(w, "%s\t", s.Subject)
	}
	fmt.Fprintln(w)
	last := list[len(list)-1].Parts
	for _, k := range slices.SortedFunc(maps.Keys(names), func(a, b string) int { return cmp.Compare(last[b], last[a]) }) {
		fmt.Fprintf(w, "%s\t", k)
		for _, s := range list {
			fmt.Fprintf(w, "%.1f %%\t", 100*s.Parts[k])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "busy processors\t")
	for _, s := range list {
		fmt.Fprintf(w, "%.2f\t", s.CPUs)
	}
	fmt.Fprintln(w)
	w.Flush()
}
