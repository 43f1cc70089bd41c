// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"fmt"
	"strconv"
)

// admission times decisions of the state machine alone.
func admission(ctx context.Context, b *bench) error {
	const file = "admission_core.json"
	if err := b.benchmarks(ctx, ".", file, "./internal/core/admission"); err != nil {
		return err
	}
	var own barred
	if err := b.read(file, &own); err != nil {
		return err
	}
	b.take("admission", own)
	return nil
}

// socketFile has the figures of admissions over the socket.
const socketFile = "socket.json"

// socket times admissions of clients over the socket, with calls that take some
// time and with calls that take none.
func socket(ctx context.Context, b *bench) error {
	time := "4s"
	if b.quick {
		time = "1s"
	}
	if err := b.benchmarks(ctx, "^BenchmarkAdmission$", socketFile, "./internal/coordinator", "-benchtime", time); err != nil {
		return err
	}
	var rows []socketRow
	if err := b.read(socketFile, &rows); err != nil {
		return err
	}
	b.judgeSocket(rows)
	return nil
}

// socketRow is what the bar needs of socket.json.
type socketRow struct {
	Clients int     `json:"clients"`
	CallMS  float64 `json:"call_ms"`
	Ratio   reading `json:"submit_p99_to_bar_under_load"`
}

// judgeSocket judges the clients whose calls take some time.
func (b *bench) judgeSocket(rows []socketRow) {
	const figure = "p99 of %s clients to 5 ms and three appends under that load"
	found := false
	for _, r := range rows {
		if r.CallMS > 0 {
			found = true
			b.judge("socket", fmt.Sprintf(figure, strconv.Itoa(r.Clients)), r.Ratio, is(1), false, "%.2f")
		}
	}
	if !found {
		b.judge("socket", fmt.Sprintf(figure, "all"), reading{}, is(1), false, "%.2f")
	}
}

// durability is what the bars need of durable.json.
type durability struct {
	BarClients int          `json:"bar_clients"`
	BarProcess reading      `json:"bar_process_to_raw"`
	BarGRPC    reading      `json:"bar_grpc_to_raw"`
	Rows       []durableRow `json:"rows"`
}

type durableRow struct {
	Journal      string  `json:"journal"`
	Clients      int     `json:"clients"`
	ProcessRatio reading `json:"process_to_raw"`
	GRPCRatio    reading `json:"grpc_to_raw"`
}

// durable compares durable admissions with the appends of the same journal.
func durable(ctx context.Context, b *bench) error {
	const file = "durable.json"
	pattern := "Durable"
	if b.quick {
		pattern = "Durable/journal=.*,clients=64$"
	}
	if err := b.benchmarks(ctx, pattern, file, "./internal/coordinator/throughput"); err != nil {
		return err
	}
	var d durability
	if err := b.read(file, &d); err != nil {
		return err
	}
	b.judgeDurable(d)
	return nil
}

// judgeDurable judges the journals that are on a disk: what is kept in memory alone
// is not durable, and has no bar.
func (b *bench) judgeDurable(d durability) {
	judge := func(r durableRow) {
		b.judge("durable", fmt.Sprintf("%s, %d callers in process, to raw appends", r.Journal, d.BarClients), r.ProcessRatio, d.BarProcess, true, "%.2f")
		b.judge("durable", fmt.Sprintf("%s, %d clients through gRPC, to raw appends", r.Journal, d.BarClients), r.GRPCRatio, d.BarGRPC, true, "%.2f")
	}
	found := false
	for _, r := range d.Rows {
		if r.Clients == d.BarClients && r.Journal != "mem" {
			found = true
			judge(r)
		}
	}
	if !found {
		judge(durableRow{Journal: "on a disk"})
	}
}

// recovery times the way back from a snapshot of a million nodes, to the first
// answer of a coordinator.
func recovery(ctx context.Context, b *bench) error {
	const file = "recovery.json"
	nodes := "BENCH_NODES=1000000"
	if b.quick {
		nodes = "BENCH_NODES=50000"
	}
	if err := b.with(nodes).benchmarks(ctx, "Recovery", file, "./internal/coordinator/throughput", "-benchtime", "1x"); err != nil {
		return err
	}
	var r struct {
		Nodes   int     `json:"nodes"`
		Seconds reading `json:"seconds"`
		Bar     reading `json:"bar_seconds"`
		Peak    reading `json:"peak_mib"`
		BarPeak reading `json:"bar_peak_mib"`
	}
	if err := b.read(file, &r); err != nil {
		return err
	}
	b.judge("recovery", fmt.Sprintf("seconds from opening a journal of %d nodes to the first answer", r.Nodes), r.Seconds, r.Bar, false, "%.1f")
	b.judge("recovery", "memory at most meanwhile, in MiB", r.Peak, r.BarPeak, false, "%.0f")
	return nil
}
