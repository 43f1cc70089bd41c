// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/scaling"
)

// TestAPartIsMeasuredAndSummarised plays the part that takes no time.
func TestAPartIsMeasuredAndSummarised(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "new")
	var stdout bytes.Buffer
	if err := run(t.Context(), []string{"-only", "^paper$", "-out", out}, &stdout, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"33.03", "18.33", "25.55", "5 of 6", "== summary", "met"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q is not told in\n%s", want, &stdout)
		}
	}
	var p Paper
	decode(t, filepath.Join(out, "paper.json"), &p)
	if len(p.Rows) != 3 || p.Rows[2].Done != 6 || p.Rows[2].Wasted != 0 {
		t.Errorf("written %+v", p)
	}
	var figures []Figure
	decode(t, filepath.Join(out, "summary.json"), &figures)
	if len(figures) != 2 || !figures[0].Met || figures[0].Part != "paper" {
		t.Errorf("summary %+v", figures)
	}
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Errorf("%s: %v", file, err)
	}
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	for _, args := range [][]string{{"-only", "nothing"}, {"-only", "("}, {"-rounds", "0"}, {"-seed", "x"}} {
		if err := run(t.Context(), append(args, "-out", out), io.Discard, io.Discard); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
	if err := run(t.Context(), []string{"-only", "nothing", "-out", out}, io.Discard, io.Discard); !errors.Is(err, errNoPart) {
		t.Errorf("error %v", err)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	var b bench
	b.judge("p", "most", is(1.06), is(1.05), false, "%.2f")
	b.judge("p", "least", is(0.4), is(0.4), true, "%.1f")
	b.take("q", barred{Bars: []Figure{{Figure: "own", Bar: "<= 15 us", Measured: "2 us", Met: true}}})
	want := []Figure{
		{"p", "most", "<= 1.05", "1.06", false, false},
		{"p", "least", ">= 0.4", "0.4", true, false},
		{"q", "own", "<= 15 us", "2 us", true, false},
	}
	if diff := cmp.Diff(want, b.figures); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestTheWorstCountsForTheBar: one play that misses it is enough, and those of
// other strategies have none.
func TestTheWorstCountsForTheBar(t *testing.T) {
	t.Parallel()
	var b bench
	b.judgeScaling([]scaling.Result{
		{Strategy: scaling.Coordinated, Ratio: 1, RatioServed: 1},
		{Strategy: scaling.Coordinated, Ratio: 0.9, RatioServed: 1.2},
		{Strategy: scaling.Uncoordinated, Wasted: 7, Broken: 1},
	})
	var met []bool
	for _, f := range b.figures {
		met = append(met, f.Met)
	}
	if diff := cmp.Diff([]bool{true, false, true, true}, met); diff != "" {
		t.Errorf("met (-want +got)\n%s\n%+v", diff, b.figures)
	}
}

func TestChart(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	panels := panelsOf([]scaling.Result{
		{Workload: charted[0], Strategy: scaling.Coordinated, Sessions: 1, Makespan: 20, LowerBound: 20, CriticalPath: 10},
		{Workload: charted[0], Strategy: scaling.Coordinated, Sessions: 10, Makespan: 40, LowerBound: 30, CriticalPath: 10},
		{Workload: charted[0], Strategy: scaling.Uncoordinated, Sessions: 10, Makespan: 55, CriticalPath: 9, Broken: 2},
	})
	if err := drawChart(&out, panels); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"tfweaver, 10 sessions: 4.00 times", "uncoordinated, 10 sessions: 5.50 times", charted[1]} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not drawn", want)
		}
	}
	// The curves of the coordinator and of the bound; what is broken has no line.
	if n := strings.Count(text, "<polyline"); n != 2 {
		t.Errorf("%d lines", n)
	}
	if err := wellFormed(&out); err != nil {
		t.Error(err)
	}
	if err := drawChart(io.Discard, nil); err != nil {
		t.Error(err)
	}
}

func wellFormed(r io.Reader) error {
	for in := xml.NewDecoder(r); ; {
		if _, err := in.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestAllSizesArePlayed: the charted workloads go up to a thousand sessions.
func TestAllSizesArePlayed(t *testing.T) {
	t.Parallel()
	most := map[string]int{}
	for _, g := range (&bench{}).games() {
		most[g.workload.Name] = max(most[g.workload.Name], g.sessions)
	}
	for _, name := range charted {
		if most[name] != 1000 {
			t.Errorf("%s is played with %d sessions at most", name, most[name])
		}
	}
	if len(most) != len(scaling.Workloads()) {
		t.Errorf("played are %v", most)
	}
}

// TestContentionIsTakenOver reads figures in the form in which they are measured.
func TestContentionIsTakenOver(t *testing.T) {
	t.Parallel()
	const measured = `{"cli": "x", "line_up": {"rounds": 1, "sessions": 6, "gap_p50_ms": 60, "together_s": 16.5, "one_by_one_s": 22},
		"one_state": {"rounds": 1, "sessions": 6, "total_s": {"tfweaver, all at once": 18, "plain Terraform, one after another": 20}}}`
	b := bench{out: t.TempDir()}
	if err := os.WriteFile(filepath.Join(b.out, "part.json"), []byte(measured), 0o600); err != nil {
		t.Fatal(err)
	}
	var c Contention
	if err := b.read("part.json", &c); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	b.stdout = &out
	if err := c.table(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"16.50", "0.75", "p50 60 ms", "18.00", "0.90"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not told in\n%s", want, &out)
		}
	}
	if err := b.read("other.json", &c); err == nil {
		t.Error("figures that nobody wrote are read")
	}
}
