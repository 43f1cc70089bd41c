// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package history

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"go.uber.org/goleak"
	"google.golang.org/grpc"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scene is how one history comes about.
type scene struct {
	store   store
	seed    uint64
	players int
	trees   int
	steps   int // of each player
	lie     func(journal.Journal) journal.Journal
	options func() []grpc.DialOption // of each player's connection
}

func setting(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// play makes a history.
func (s scene) play(t *testing.T) []record {
	t.Helper()
	dir, err := os.MkdirTemp("", "weaver") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	p := &place{t: t, dir: dir, store: s.store, heard: newRecorder(), lie: s.lie, conns: map[net.Conn]struct{}{}}
	p.begin()
	var steps atomic.Int64
	var players sync.WaitGroup
	for i := range s.players {
		var options []grpc.DialOption
		if s.options != nil {
			options = s.options()
		}
		conn := p.dial(options...)
		defer conn.Close()
		pl := &player{
			id: i, api: weaverv1.NewCoordinatorClient(conn), heard: p.heard, trees: s.trees,
			random: rand.New(rand.NewPCG(s.seed, uint64(i))),
		}
		players.Go(func() {
			for range s.steps {
				pl.step()
				steps.Add(1)
			}
		})
	}
	s.disturb(p, &steps, &players)
	p.end()
	return p.heard.history()
}

// disturb restarts the coordinator again and again, in every way in turn, until
// all players are done.
func (s scene) disturb(p *place, steps *atomic.Int64, players *sync.WaitGroup) {
	done := make(chan struct{})
	go func() {
		players.Wait()
		close(done)
	}()
	conn := p.dial()
	defer conn.Close()
	poker := &player{
		id: s.players, api: weaverv1.NewCoordinatorClient(conn), heard: p.heard, trees: s.trees,
		random: rand.New(rand.NewPCG(s.seed, 1<<32)),
	}
	defer poker.pokes.Wait()
	for n := 0; ; n++ {
		next := int64((n + 1) * s.players * 15)
		for steps.Load() < next {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
		switch n % 3 {
		case 0:
			p.crash(false, poker.poke)
		case 1:
			p.end()
			p.begin()
		case 2:
			p.crash(true, poker.poke)
		}
	}
}

// check judges a history.
func check(t *testing.T, s scene, all []record) (porcupine.CheckResult, error) {
	t.Helper()
	if err := tokensGrow(all); err != nil {
		return porcupine.Illegal, err
	}
	m := model()
	result, info := porcupine.CheckOperationsVerbose(m, operations(all), time.Minute)
	if result == porcupine.Ok {
		return result, nil
	}
	return result, fmt.Errorf("%s: seed %d, to be looked at in %s\n%s", result, s.seed, picture(m, info, s.seed), stuck(info, operations(all)))
}

// pictures is the folder of what is drawn of histories that are not as they
// should be.
const pictures = "../../../build/history"

// picture draws a history, for a browser, and returns the file or why there is
// none.
func picture(m porcupine.Model, info porcupine.LinearizationInfo, seed uint64) string {
	path, err := filepath.Abs(filepath.Join(pictures, fmt.Sprintf("seed-%d-%d.html", seed, time.Now().UnixNano())))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = porcupine.VisualizePath(m, info, path)
	}
	if err != nil {
		return fmt.Sprintf("no file (%v)", err)
	}
	return path
}

// TestLinearizable judges histories over both journals.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	first, count := setting(t, "HISTORY_SEED", 1), setting(t, "HISTORY_SEEDS", 3)
	for name, open := range map[string]func(t *testing.T) store{
		"disk":   onDisk,
		"memory": func(*testing.T) store { return inMemory() },
	} {
		for i := range count {
			t.Run(fmt.Sprint(name, "/", first+i), func(t *testing.T) {
				t.Parallel()
				linearize(t, open, uint64(first+i), setting(t, "HISTORY_STEPS", 90))
			})
		}
	}
}

// linearize plays a history and judges it. One that takes too long to judge says
// nothing, for or against: then a shorter one is played.
func linearize(t *testing.T, open func(*testing.T) store, seed uint64, steps int) {
	t.Helper()
	for ; steps > 10; steps = steps * 2 / 3 {
		s := scene{store: open(t), seed: seed, players: 6, trees: 3, steps: steps}
		all := s.play(t)
		began := time.Now()
		result, err := check(t, s, all)
		t.Logf("%s; judged in %s", summary(all), time.Since(began).Round(time.Millisecond))
		switch {
		case result == porcupine.Unknown:
			t.Log("it took too long to judge")
		case err != nil:
			t.Fatal(err)
		default:
			return
		}
	}
	t.Fatal("no history could be judged in time")
}

// stuck tells of each tree that cannot be put in order how far that goes: the
// last operations of the longest order, and what cannot follow.
func stuck(info porcupine.LinearizationInfo, all []porcupine.Operation) string {
	var b strings.Builder
	parts := partition(all)
	for tree, orders := range info.PartialLinearizationsOperations() {
		longest := slices.MaxFunc(orders, func(a, b []porcupine.Operation) int { return len(a) - len(b) })
		if len(longest) == len(parts[tree]) {
			continue
		}
		fmt.Fprintf(&b, "tree %d: %d of %d operations; after\n", tree, len(longest), len(parts[tree]))
		for _, o := range longest[max(0, len(longest)-12):] {
			fmt.Fprintf(&b, "    %9d %9d %s\n", o.Call/1000, o.Return/1000, describe(o.Input, o.Output))
		}
		placed := map[string]int{}
		for _, o := range longest {
			placed[fmt.Sprint(o.Call, o.ClientId, o.Input)]++
		}
		fmt.Fprintln(&b, "  cannot follow")
		rest := slices.Clone(parts[tree])
		slices.SortFunc(rest, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
		n := 0
		for _, o := range rest {
			key := fmt.Sprint(o.Call, o.ClientId, o.Input)
			if placed[key] > 0 {
				placed[key]--
				continue
			}
			if n++; n <= 8 {
				fmt.Fprintf(&b, "    %9d %9d %s\n", o.Call/1000, o.Return/1000, describe(o.Input, o.Output))
			}
		}
	}
	return b.String()
}
