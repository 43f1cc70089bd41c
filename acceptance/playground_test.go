// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// blockPatience bounds one block; the first compiles.
const blockPatience = 3 * time.Minute

// reader is somebody who follows the pages in a fresh checkout, with nothing but
// Go, make and the CLI on the machine.
type reader struct {
	*bench
	checkout string
	// listen replaces the port of the playground, which may be taken here.
	listen string
}

// TestPagesWorkAsTheyStand follows the README and the examples, block by block.
// Everything that was made is taken away again, and the cloud refused nothing.
func TestPagesWorkAsTheyStand(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	for _, page := range []struct {
		name string
		// operations is how many writes of the cloud the page leads to: each
		// object is made and deleted.
		operations int
	}{
		{"README.md", 2 * (3 + 1)},
		{"examples/three-sessions/README.md", 2 * (3 + 1 + 2)},
		{"examples/shared-network/README.md", 2 * (3 + 5 + 5)},
		{"examples/one-security-group/README.md", 2 * (2 + 3 + 2)},
		{"examples/capacity/README.md", 2 * (1 + 3)},
		// The machine has two lives.
		{"examples/replace/README.md", 2 * (1 + 2)},
	} {
		before := len(r.log().Operations)
		r.follow(page.name)
		if made := len(r.clean().Operations) - before; made != page.operations {
			t.Errorf("%s: %d operations in the cloud, want %d", page.name, made, page.operations)
		}
		if t.Failed() {
			return // what follows would fail for the same reason
		}
	}
}

// TestExamplesBeginAsTheReadmeDoes: the page about all examples has no commands
// of its own, so that following the README is following it.
func TestExamplesBeginAsTheReadmeDoes(t *testing.T) {
	t.Parallel()
	readme, err := blocksOf(shared.Module, "README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := blocksOf(shared.Module, "examples/README.md")
	if err != nil || len(examples) != 2 {
		t.Fatalf("%d blocks, %v", len(examples), err)
	}
	for n, b := range examples {
		b.where = readme[n].where
		if readme[n] != b {
			t.Errorf("examples/README.md says %+v where the README says %+v", b, readme[n])
		}
	}
}

// TestEveryPageIsFollowed fails when somebody adds a page, or a block without a
// mark.
func TestEveryPageIsFollowed(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(shared.Module, "examples", "*", "README.md"))
	if err != nil || len(pages) != 5 {
		t.Errorf("the examples have %d pages, %v; the test follows 5", len(pages), err)
	}
	for _, page := range append(pages, filepath.Join(shared.Module, "README.md"), filepath.Join(shared.Module, "examples", "README.md")) {
		name, err := filepath.Rel(shared.Module, page)
		if err != nil {
			t.Fatal(err)
		}
		if blocks, err := blocksOf(shared.Module, name); err != nil || len(blocks) == 0 {
			t.Errorf("%s has %d blocks, %v", name, len(blocks), err)
		}
	}
}

func newReader(t *testing.T) *reader {
	t.Helper()
	b := newPatientBench(t, lab.Setup{}, 3*patience) // it compiles all anew
	checkout, err := b.Checkout()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listen := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	// From here on the cloud is the reader's own.
	b.Cloud.LogFile = lab.Playground{Dir: filepath.Join(checkout, "build", "playground")}.Log()
	return &reader{bench: b, checkout: checkout, listen: listen}
}

// follow does what a page says.
func (r *reader) follow(page string) {
	r.t.Helper()
	blocks, err := blocksOf(r.checkout, page)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, block := range blocks {
		run := r.begin(block)
		if block.kind == blockServe {
			r.awaitCloud(run)
			continue
		}
		r.wait(run)
		if want := map[string]int{blockRun: 0, blockRefused: 1}[block.kind]; run.ExitCode != want {
			r.t.Fatalf("%s: exit code %d, want %d", block.where, run.ExitCode, want)
		}
	}
}

// begin starts a block in the checkout, with an answer to the one question that it
// may ask.
func (r *reader) begin(b block) *lab.Run {
	r.t.Helper()
	ctx := r.ctx
	if b.kind != blockServe {
		bounded, cancel := context.WithTimeout(r.ctx, blockPatience)
		r.t.Cleanup(cancel)
		ctx = bounded
	}
	run, err := r.StartShell(ctx, b.where, r.checkout, b.script, "yes\n", "PLAYGROUND_LISTEN="+r.listen, "SCALE=0.1")
	if err != nil {
		r.t.Fatal(err)
	}
	return run
}

// awaitCloud waits until the playground's cloud can be reached.
func (r *reader) awaitCloud(serving *lab.Run) {
	r.t.Helper()
	err := lab.Await(r.ctx, "the playground's cloud answers", func() (bool, error) {
		if serving.Exited() {
			return false, serving.MustSucceed()
		}
		conn, err := net.DialTimeout("tcp", r.listen, time.Second)
		if err != nil {
			return false, nil
		}
		return true, conn.Close()
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := os.Stat(r.Cloud.LogFile); err != nil {
		r.t.Fatalf("the cloud keeps no log: %v", err)
	}
}
