// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/tfweaver/tfweaver/acceptance/lineup"
	"github.com/tfweaver/tfweaver/acceptance/program"
)

// Contention is what is taken over of the figures of sessions that want one
// network, and of applies that want one state, with the real CLI.
type Contention struct {
	CLI    string `json:"cli"`
	CPUs   int    `json:"cpus"`
	LineUp struct {
		Rounds    int     `json:"rounds"`
		Sessions  int     `json:"sessions"`
		InOrder   int     `json:"in_order"`
		Refused   int     `json:"refused_at_cloud"`
		GapP50    float64 `json:"gap_p50_ms"`
		GapMax    float64 `json:"gap_max_ms"`
		TogetherS float64 `json:"together_s"`
		OneByOneS float64 `json:"one_by_one_s"`
	} `json:"line_up"`
	OneState struct {
		Rounds       int                    `json:"rounds"`
		Sessions     int                    `json:"sessions"`
		TotalS       map[lineup.Way]float64 `json:"total_s"`
		AgainstPlain float64                `json:"ratio_against_plain"`
		Ratio        map[lineup.Way]float64 `json:"ratio"`
		Refused      map[lineup.Way]int     `json:"refused"`
		GapP50       map[lineup.Way]float64 `json:"gap_p50_ms"`
		InOrder      int                    `json:"in_order"`
		Lost         int                    `json:"lost_versions"`
	} `json:"one_state"`
}

// contention lets applies wait for each other, with real processes: for one network
// and for one state.
func contention(ctx context.Context, b *bench) error {
	folder := filepath.Join(b.out, "contention")
	args := []string{"run", "-p", "2", "./acceptance/measure", "-out", folder}
	if b.quick {
		args = append(args, "-only", "^line-up$", "-rounds", "1")
	} else {
		args = append(args, "-only", "^(line-up|state)$")
	}
	if err := b.silently().goTool(ctx, args...); err != nil {
		return err
	}
	var c Contention
	if err := b.read(filepath.Join("contention", "part.json"), &c); err != nil {
		return err
	}
	if err := c.table(b); err != nil {
		return err
	}
	c.judge(b)
	return program.WriteFigures(b.out, "contention.json", c)
}

// judge counts what went wrong, in rounds that were done.
func (c Contention) judge(b *bench) {
	var refused, lost reading
	if c.LineUp.Rounds > 0 {
		refused = is(float64(c.LineUp.Refused))
	}
	b.judge("contention", "calls refused by the cloud while sessions line up", refused, is(0), false, "%.0f")
	if b.quick {
		return // without applies on one state
	}
	if n, ok := c.OneState.Refused[lineup.Woven]; ok && c.OneState.Rounds > 0 {
		lost = is(float64(n + c.OneState.Lost))
	}
	b.judge("contention", "applies on one state refused or lost", lost, is(0), false, "%.0f")
}

func (c Contention) table(b *bench) error {
	t := tabwriter.NewWriter(b.stdout, 0, 0, 2, ' ', 0)
	l := c.LineUp
	fmt.Fprintf(t, "%d sessions put subnets into one network\tseconds\tto one by one\n", l.Sessions)
	fmt.Fprintf(t, "tfweaver, all at once\t%.2f\t%.2f\n", l.TogetherS, l.TogetherS/l.OneByOneS)
	fmt.Fprintf(t, "plain Terraform, one by one\t%.2f\t1\n", l.OneByOneS)
	fmt.Fprintf(t, "idle gap between two writes\tp50 %.0f ms\tmost %.0f ms\n", l.GapP50, l.GapMax)
	if s := c.OneState; s.Rounds > 0 {
		base := s.TotalS[lineup.PlainByTurns]
		fmt.Fprintf(t, "\n%d applies on one state\tseconds\tto plain one by one\tidle gap p50 ms\trefused\n", s.Sessions)
		ways := slices.SortedFunc(maps.Keys(s.TotalS), func(x, y lineup.Way) int { return cmp.Compare(s.TotalS[x], s.TotalS[y]) })
		for _, way := range ways {
			fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.0f\t%d\n", way, s.TotalS[way], s.TotalS[way]/base, s.GapP50[way], s.Refused[way])
		}
	}
	return t.Flush()
}

// silently is the bench without what a program prints as its result.
func (b *bench) silently() *bench {
	quiet := *b
	quiet.stdout = io.Discard
	return &quiet
}

// Overhead is what is taken over of the cost of the wrapper.
type Overhead struct {
	CLI     string     `json:"cli"`
	CPUs    int        `json:"cpus"`
	Rounds  int        `json:"rounds"`
	Size    int        `json:"size"`
	Large   int        `json:"large"`
	Load    string     `json:"load"`
	Figures []workCost `json:"figures"`
}

type workCost struct {
	Scene    string    `json:"scene"`
	Plain    []runCost `json:"plain"`
	Tfweaver []runCost `json:"tfweaver"`
	Ratio    float64   `json:"cpu_ratio"`
	Bar      float64   `json:"cpu_ratio_bar,omitempty"`
}

type runCost struct {
	CPU       float64 `json:"cpu_s"`
	Wall      float64 `json:"wall_s"`
	FirstWord float64 `json:"first_word_s"`
	Memory    int64   `json:"memory_bytes"`
}

// overhead measures what the wrapper costs beside the CLI alone.
func overhead(ctx context.Context, b *bench) error {
	folder := filepath.Join(b.out, "cost")
	args := []string{"run", "-p", "2", "./acceptance/cost", "-out", folder}
	if b.quick {
		args = append(args, "-rounds", "1", "-size", "50", "-large", "500", "-only", "^(plan|apply|nothing to do)$")
	} else {
		args = append(args, "-rounds", strconv.Itoa(b.rounds))
	}
	if err := b.goTool(ctx, args...); err != nil {
		return err
	}
	var o Overhead
	if err := b.read(filepath.Join("cost", "cost.json"), &o); err != nil {
		return err
	}
	for _, w := range o.Figures {
		// The bars are for large plans: small ones are mostly the start of a process.
		if w.Bar > 0 && !b.quick {
			b.judge("overhead", w.Scene+", processor time to that of the CLI alone", positive(w.Ratio), is(w.Bar), false, "%.2f")
		}
	}
	return program.WriteFigures(b.out, "overhead.json", o)
}
