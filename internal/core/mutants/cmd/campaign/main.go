// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command campaign derives faults from the code of the core, hundreds per file,
// and prints those that no unit test finds. They are no failure by themselves:
// some change nothing that can be seen.
//
// Usage:
//
//	campaign [-match TEXT] [-every N] [-quick] [-timeout D] [PACKAGE...]
//
// The packages are folders below internal/core; without any, all that decide. The
// exit code is 0, 1 if it cannot be done, or 128 and the number of the signal that
// ended it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/mutants"
)

func main() {
	match := flag.String("match", "", "only faults whose description contains this")
	every := flag.Int("every", 1, "only one fault in so many")
	quick := flag.Bool("quick", false, "only the tests that take no time")
	limit := flag.Duration("timeout", 2*time.Minute, "for one run of one package's tests")
	flag.Parse()
	c := mutants.Campaign{Root: ".", Packages: flag.Args(), Limit: *limit, Match: *match, Every: *every, Quick: *quick, Progress: progress}
	if len(c.Packages) == 0 {
		c.Packages = []string{"mode", "graph", "lock", "escrow", "admission", "conflict"}
	}
	ctx, signalled := mutants.Interruptible(context.Background())
	sites, survivors, err := c.Run(ctx)
	fmt.Printf("%d faults in all, %d of those tried survived\n", len(sites), len(survivors))
	if err != nil {
		fmt.Fprintln(os.Stderr, "campaign:", err)
		os.Exit(max(1, signalled()))
	}
}

func progress(s mutants.Site, killer string) {
	if killer == "" {
		killer = "SURVIVED"
	}
	fmt.Printf("%s | %s\n", killer, s)
}
