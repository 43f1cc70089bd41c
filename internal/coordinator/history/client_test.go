// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package history

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// turn is one thing that a run does with a network: it gets it, or gives it
// back.
type turn struct {
	tree  int
	run   string
	takes bool
}

// mutex is the specification of one network for those who write to it: nobody
// gets it before it was given back.
func mutex() porcupine.Model {
	return porcupine.Model{
		Partition: func(all []porcupine.Operation) [][]porcupine.Operation {
			parts := make([][]porcupine.Operation, clientTrees)
			for _, o := range all {
				parts[o.Input.(turn).tree] = append(parts[o.Input.(turn).tree], o)
			}
			return parts
		},
		Init: func() any { return "" },
		Step: func(holder, in, _ any) (bool, any) {
			switch t := in.(turn); {
			case t.takes:
				return holder == "", t.run
			default:
				return holder == t.run, ""
			}
		},
	}
}

const (
	clientTrees = 2
	clientRuns  = 5
	clientTurns = 12
)

// turns lets runs take turns through the client of the products, which repeats by
// itself what got lost, while coordinators end and crash.
func turns(t *testing.T, pass bool) []porcupine.Operation {
	t.Helper()
	dir, err := os.MkdirTemp("", "weaver")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	p := &place{t: t, dir: dir, store: onDisk(t), heard: newRecorder(), link: filepath.Join(dir, "s")}
	p.begin()
	var mu sync.Mutex
	var all []porcupine.Operation
	var done atomic.Int64
	var runs sync.WaitGroup
	note := func(i int, began int64, what turn) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, porcupine.Operation{ClientId: i, Input: what, Call: began, Return: p.heard.now()})
	}
	for i := range clientRuns {
		runs.Go(func() {
			if err := takeTurns(p, i, pass, note, &done); err != nil {
				t.Errorf("run %d: %v", i, err)
			}
		})
	}
	over := make(chan struct{})
	go func() { runs.Wait(); close(over) }()
	for n := range 3 {
		for waiting := true; waiting && done.Load() < int64((n+1)*clientRuns*clientTurns/4); {
			select {
			case <-over:
				waiting = false
			case <-time.After(time.Millisecond):
			}
		}
		select {
		case <-over: // nobody would write what a crash happens in
		default:
			if n == 1 {
				p.end()
				p.begin()
			} else {
				p.crash(n == 0, func() {})
			}
		}
	}
	<-over
	p.end()
	return all
}

func takeTurns(p *place, i int, pass bool, note func(int, int64, turn), done *atomic.Int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	c, err := client.Dial(ctx, "unix://"+p.link)
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := c.Open(ctx, client.SessionConfig{Actor: fmt.Sprint("run", i), Objective: "test", Lease: 2 * time.Second, Patience: patience})
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	for n := range clientTurns {
		tree := (i + n) % clientTrees
		r := coordinatortest.Create(network(tree), fmt.Sprint(i))
		r.Advisory = pass
		began := p.heard.now()
		g, err := s.Submit(ctx, r, "", nil)
		if err == nil {
			err = g.Start(ctx)
		}
		if err != nil {
			return err
		}
		note(i, began, turn{tree, s.ID(), true})
		time.Sleep(time.Millisecond) // the call
		began = p.heard.now()
		if err := g.Complete(ctx, client.Outcome{Result: admission.Succeeded, Exists: true}); err != nil {
			return err
		}
		note(i, began, turn{tree, s.ID(), false})
		done.Add(1)
	}
	return nil
}

// TestTurnsThroughTheClient: whatever happens to coordinators, runs that use the
// products' client have a network one after another, and none is turned away.
func TestTurnsThroughTheClient(t *testing.T) {
	t.Parallel()
	all := turns(t, false)
	if want := 2 * clientRuns * clientTurns; len(all) != want {
		t.Errorf("%d turns; want %d", len(all), want)
	}
	if !porcupine.CheckOperations(mutex(), all) {
		t.Error("two runs had one network at a time")
	}
}

// TestTurnsAreJudged: runs that do not wait for one another are found out.
func TestTurnsAreJudged(t *testing.T) {
	t.Parallel()
	if porcupine.CheckOperations(mutex(), turns(t, true)) {
		t.Error("nobody has noticed")
	}
}
