// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"fmt"
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
	var rows []struct {
		Clients int     `json:"clients"`
		CallMS  float64 `json:"call_ms"`
		Ratio   float64 `json:"submit_p99_to_bar_under_load"`
	}
	if err := b.read(socketFile, &rows); err != nil {
		return err
	}
	for _, r := range rows {
		if r.CallMS > 0 {
			b.judge("socket", fmt.Sprintf("p99 of %d clients to 5 ms and three appends under that load", r.Clients), r.Ratio, 1, false, "%.2f")
		}
	}
	return nil
}

// durability is what the bars need of durable.json.
type durability struct {
	BarClients int     `json:"bar_clients"`
	BarProcess float64 `json:"bar_process_to_raw"`
	BarGRPC    float64 `json:"bar_grpc_to_raw"`
	Rows       []struct {
		Journal      string  `json:"journal"`
		Clients      int     `json:"clients"`
		ProcessRatio float64 `json:"process_to_raw"`
		GRPCRatio    float64 `json:"grpc_to_raw"`
	} `json:"rows"`
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
	var own barred
	var d durability
	if err := b.read(file, &own, &d); err != nil {
		return err
	}
	if len(own.Bars) > 0 {
		b.take("durable", own)
		return nil
	}
	for _, r := range d.Rows {
		// What is kept in memory alone is not durable: it has no bar.
		if r.Clients == d.BarClients && r.Journal != "mem" {
			b.judge("durable", fmt.Sprintf("%s, %d callers in process, to raw appends", r.Journal, r.Clients), r.ProcessRatio, d.BarProcess, true, "%.2f")
			b.judge("durable", fmt.Sprintf("%s, %d clients through gRPC, to raw appends", r.Journal, r.Clients), r.GRPCRatio, d.BarGRPC, true, "%.2f")
		}
	}
	return nil
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
		Seconds float64 `json:"seconds"`
		Bar     float64 `json:"bar_seconds"`
		Peak    float64 `json:"peak_mib"`
		BarPeak float64 `json:"bar_peak_mib"`
	}
	if err := b.read(file, &r); err != nil {
		return err
	}
	b.judge("recovery", fmt.Sprintf("seconds from opening a journal of %d nodes to the first answer", r.Nodes), r.Seconds, r.Bar, false, "%.1f")
	b.judge("recovery", "memory at most meanwhile, in MiB", r.Peak, r.BarPeak, false, "%.0f")
	return nil
}
