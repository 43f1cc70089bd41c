// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"text/tabwriter"

	"github.com/tfweaver/tfweaver/acceptance/program"
	"github.com/tfweaver/tfweaver/internal/scaling"
)

// Scaling is the content of scaling.json.
type Scaling struct {
	Seed        uint64           `json:"seed"`
	Parallelism int              `json:"parallelism"`
	Bar         float64          `json:"bar"`
	Results     []scaling.Result `json:"results"`
}

// charted are the workloads of the chart, which are played at all sizes; mostOther
// is the largest size of the others.
var charted = []string{"independent", "mixed 50 %", "network 100 %"}

const mostOther = 100

// sizes are the numbers of sessions.
func (b *bench) sizes() []int {
	if b.quick {
		return []int{1, 2, 5, 10, 20, 50}
	}
	return []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}
}

// game is one play that is due.
type game struct {
	workload scaling.Workload
	sessions int
	strategy scaling.Strategy
}

func (b *bench) games() []game {
	var games []game
	for _, w := range scaling.Workloads() {
		for _, n := range b.sizes() {
			if n > mostOther && !slices.Contains(charted, w.Name) {
				continue
			}
			for _, s := range scaling.Strategies() {
				games = append(games, game{w, n, s})
			}
		}
	}
	return games
}

// scale plays all workloads in virtual time.
func scale(ctx context.Context, b *bench) error {
	rules, err := scaling.LoadRules()
	if err != nil {
		return err
	}
	games := b.games()
	results, failed := make([]scaling.Result, len(games)), make([]error, len(games))
	next := make(chan int)
	var players sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 4) {
		players.Go(func() {
			for i := range next {
				g := games[i]
				results[i], failed[i] = scaling.Play(ctx, g.workload.Build(g.sessions, b.seed), g.strategy, rules, b.seed)
			}
		})
	}
	for i := range games {
		if ctx.Err() != nil {
			break
		}
		if i > 0 && games[i].sessions >= 200 {
			b.progress("%s, %d sessions, %s", games[i].workload.Name, games[i].sessions, games[i].strategy)
		}
		next <- i
	}
	close(next)
	players.Wait()
	if err := errors.Join(append(failed, ctx.Err())...); err != nil {
		return err
	}
	if err := scalingTable(b, results); err != nil {
		return err
	}
	b.judgeScaling(results)
	report := Scaling{Seed: b.seed, Parallelism: scaling.Parallelism, Bar: scaling.Bar, Results: results}
	return errors.Join(program.WriteFigures(b.out, "scaling.json", report), b.chart(results))
}

// judgeScaling takes the worst of all plays under the coordinator.
func (b *bench) judgeScaling(results []scaling.Result) {
	var ticket, served float64
	var wasted, broken reading
	for _, r := range results {
		if r.Strategy == scaling.Coordinated {
			ticket, served = max(ticket, r.Ratio), max(served, r.RatioServed)
			wasted, broken = is(wasted.value+float64(r.Wasted)), is(broken.value+float64(r.Broken))
		}
	}
	b.judge("scaling", "makespan to the longest path by ticket, at worst", positive(ticket), is(scaling.Bar), false, "%.3f")
	b.judge("scaling", "makespan to the longest path as served, at worst", positive(served), is(scaling.Bar), false, "%.3f")
	b.judge("scaling", "calls that the cloud refused, over all workloads", wasted, is(0), false, "%.0f")
	b.judge("scaling", "sessions that did not end well, over all workloads", broken, is(0), false, "%.0f")
}

func scalingTable(b *bench, results []scaling.Result) error {
	t := tabwriter.NewWriter(b.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "workload\tsessions\tstrategy\tmakespan s\tto ticket path\tto best order\tto critical path\twasted\tgave up\tbroken\trefused\twait p50 s\tp99 s\tdecisions\tCPU us/call\t")
	for _, r := range results {
		ticket, cpu := "", ""
		if r.Strategy == scaling.Coordinated {
			ticket, cpu = fmt.Sprintf("%.3f", r.Ratio), fmt.Sprintf("%.0f", r.CPUMicros)
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%.1f\t%s\t%.2f\t%.2f\t%d\t%d\t%d\t%d\t%.1f\t%.1f\t%d\t%s\t\n", r.Workload, r.Sessions, r.Strategy,
			r.Makespan, ticket, r.ToOptimal, r.Stretch, r.Wasted, r.GaveUp, r.Broken, r.Refused, r.WaitP50, r.WaitP99, r.Decisions, cpu)
	}
	return t.Flush()
}

// chart draws how the makespan grows.
func (b *bench) chart(results []scaling.Result) error {
	file, err := os.Create(filepath.Join(b.out, "scaling.svg"))
	if err != nil {
		return fmt.Errorf("draw the chart: %w", err)
	}
	return errors.Join(drawChart(file, panelsOf(results)), file.Close())
}

// panelsOf are the panels of the charted workloads.
func panelsOf(results []scaling.Result) []panel {
	var panels []panel
	for _, name := range charted {
		p := panel{title: name}
		critical := map[int]float64{}
		best := curve{name: "no order is quicker", kind: best}
		for _, r := range results {
			if r.Workload == name && r.Strategy == scaling.Coordinated && r.CriticalPath > 0 {
				critical[r.Sessions] = r.CriticalPath
				best.points = append(best.points, point{r.Sessions, r.LowerBound / r.CriticalPath, false})
			}
		}
		p.curves = append(p.curves, best)
		for i, s := range scaling.Strategies() {
			c := curve{name: string(s), kind: curveKind(i)}
			for _, r := range results {
				if r.Workload == name && r.Strategy == s && critical[r.Sessions] > 0 {
					c.points = append(c.points, point{r.Sessions, r.Makespan / critical[r.Sessions], r.Broken > 0})
				}
			}
			p.curves = append(p.curves, c)
		}
		panels = append(panels, p)
	}
	return panels
}

// Paper is the content of paper.json.
type Paper struct {
	Rows []paperRow `json:"rows"`
}

type paperRow struct {
	Strategy   scaling.Strategy `json:"strategy"`
	PaperS     float64          `json:"paper_makespan_s"`
	PaperDone  int              `json:"paper_succeeded"`
	Makespan   float64          `json:"makespan_s"`
	Done       int              `json:"succeeded"`
	Wasted     int              `json:"wasted_calls"`
	TicketPath float64          `json:"ticket_path_s,omitempty"`
	// ToSerial is the makespan to that of one by one.
	ToSerial float64 `json:"ratio_to_serial"`
}

// paper plays the paper's trace in virtual time.
func paper(ctx context.Context, b *bench) error {
	rules, err := scaling.LoadRules()
	if err != nil {
		return err
	}
	var p Paper
	for _, f := range scaling.PaperFigures() {
		// Without a seed latencies are those of the paper.
		r, err := scaling.Play(ctx, scaling.Trace(), f.Strategy, rules, 0)
		if err != nil {
			return err
		}
		p.Rows = append(p.Rows, paperRow{
			Strategy: f.Strategy, PaperS: f.Makespan, PaperDone: f.Succeeded,
			Makespan: r.Makespan, Done: r.Done, Wasted: r.Wasted, TicketPath: r.TicketPath,
		})
	}
	t := tabwriter.NewWriter(b.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "strategy\tpaper s\tcalls done\there s\tcalls done\tto one by one\twasted\t")
	for i := range p.Rows {
		row := &p.Rows[i]
		row.ToSerial = row.Makespan / p.Rows[0].Makespan
		fmt.Fprintf(t, "%s\t%.2f\t%d of 6\t%.2f\t%d of 6\t%.3f\t%d\t\n", row.Strategy, row.PaperS, row.PaperDone, row.Makespan, row.Done, row.ToSerial, row.Wasted)
		if row.Strategy == scaling.Coordinated {
			b.judge("paper", "coordinated makespan in seconds, the paper's", positive(row.Makespan), is(row.PaperS+0.005), false, "%.2f")
			b.judge("paper", "operations that succeed, of 6", is(float64(row.Done)), is(6), true, "%.0f")
		}
	}
	return errors.Join(t.Flush(), program.WriteFigures(b.out, "paper.json", p))
}
