// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package history

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"google.golang.org/grpc"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// liar stands between a client and the coordinator and changes what is said.
// It lies about one thing in some.
type liar struct {
	mu   sync.Mutex
	said int
	// one in so many is a lie.
	in int
	// answer changes an answer; it is false when there was nothing to lie about.
	answer func(in, out any) bool
	// swallow says of a question that it is answered without being put.
	swallow func(method string) bool
}

// lies says whether it is time for a lie.
func (l *liar) lies() bool {
	l.said++
	return l.said%l.in == 0
}

func (l *liar) unary(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if l.swallow != nil && l.swallow(method) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.lies() {
			return nil
		}
	}
	err := invoke(ctx, method, in, out, conn, options...)
	if err == nil && l.answer != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.answer(in, out)
	}
	return err
}

func (l *liar) stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, streamer grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := streamer(ctx, desc, conn, method, options...)
	return &lyingStream{ClientStream: s, liar: l}, err
}

type lyingStream struct {
	grpc.ClientStream
	liar *liar
	in   any
}

// SendMsg implements grpc.ClientStream.
func (s *lyingStream) SendMsg(m any) error {
	s.in = m
	return s.ClientStream.SendMsg(m)
}

// RecvMsg implements grpc.ClientStream.
func (s *lyingStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err == nil && s.liar.answer != nil {
		s.liar.mu.Lock()
		defer s.liar.mu.Unlock()
		s.liar.answer(s.in, m)
	}
	return err
}

// options put the liar between.
func (l *liar) options() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithUnaryInterceptor(l.unary), grpc.WithStreamInterceptor(l.stream)}
}

// decisions makes a liar about decisions.
func decisions(in int, lie func(d *weaverv1.Decision) bool) func() *liar {
	return func() *liar {
		l := &liar{in: in}
		l.answer = func(_, out any) bool {
			d, ok := out.(*weaverv1.Decision)
			return ok && l.lies() && lie(d)
		}
		return l
	}
}

// staleReads answers some questions about what is going on with what went on
// before.
func staleReads() *liar {
	var before []byte
	l := &liar{in: 4}
	l.answer = func(_, out any) bool {
		s, ok := out.(*weaverv1.StatusResponse)
		if !ok {
			return false
		}
		now := s.GetJson()
		lie := l.lies() && before != nil
		if lie {
			s.Json = before
		}
		before = now
		return lie
	}
	return l
}

// swallows answers some questions of a method without putting them.
func swallows(in int, methods ...string) func() *liar {
	return func() *liar {
		return &liar{in: in, swallow: func(method string) bool {
			for _, m := range methods {
				if strings.HasSuffix(method, "/"+m) {
					return true
				}
			}
			return false
		}}
	}
}

// forgetful is a journal that acknowledges an append and has not written it, just
// before its process dies.
type forgetful struct {
	journal.Journal
	mu    sync.Mutex
	lost  journal.Index // what comes behind it is in memory only
	after int           // how many appends are still written
	tail  [][]byte
}

// Append implements journal.Journal.
func (f *forgetful) Append(ctx context.Context, epoch journal.Epoch, after journal.Index, batch [][]byte) (journal.Index, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.after--; f.after >= 0 {
		return f.Journal.Append(ctx, epoch, after, batch)
	}
	if f.lost == 0 {
		f.lost = after
	}
	f.tail = append(f.tail, batch...)
	return f.lost + journal.Index(len(f.tail)), nil
}

// SaveSnapshot implements journal.Journal: there is nothing that it could save.
func (f *forgetful) SaveSnapshot(ctx context.Context, epoch journal.Epoch, at journal.Index, state io.Reader) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost != 0 {
		return nil
	}
	return f.Journal.SaveSnapshot(ctx, epoch, at, state)
}

// TestLiesAreFound: the judge is not satisfied with just anything. Every liar is
// found within few histories.
func TestLiesAreFound(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]func() *liar{
		"a call is admitted although another runs": decisions(3, func(d *weaverv1.Decision) bool {
			if d.GetStatus() != queued {
				return false
			}
			d.Status, d.Token = admitted, 1<<30
			return true
		}),
		"a key is forgotten": decisions(5, func(d *weaverv1.Decision) bool {
			d.Tx += "0"
			return true
		}),
		"a token is given twice": decisions(5, func(d *weaverv1.Decision) bool {
			if d.GetToken() <= 1 {
				return false
			}
			d.Token--
			return true
		}),
		"a refusal is kept back": decisions(1, func(d *weaverv1.Decision) bool {
			if d.GetStatus() != rejected {
				return false
			}
			d.Status = queued
			return true
		}),
		"reads are stale":           staleReads,
		"outcomes are thrown away":  swallows(3, "Complete", "Resolve"),
		"starts are not on record":  swallows(3, "Start"),
		"sessions are not ended":    swallows(1, "CloseSession"),
		"what was given up remains": swallows(2, "Withdraw"),
		"what was seen is not":      swallows(1, "Observe"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expose(t, func() scene {
				return scene{store: inMemory(), seed: 7, players: 5, trees: 2, steps: 50, options: lie().options}
			})
		})
	}
}

// attempts is how many histories a liar may have: in some nothing comes of a
// lie, and some take too long to be refused. After one of those comes a shorter
// one, whatever the speed of the machine.
const attempts = 6

// expose wants the judge to refuse a history.
func expose(t *testing.T, make func() scene) {
	t.Helper()
	var last string
	shorter := 0
	for n := range attempts {
		s := make()
		s.seed += uint64(n)
		s.steps = max(10, s.steps-shorter)
		all := s.play(t)
		if tokensGrow(all) != nil {
			return
		}
		result := porcupine.CheckOperationsTimeout(model(), operations(all), 5*time.Second)
		if result == porcupine.Illegal {
			return
		}
		if result == porcupine.Unknown {
			shorter += 15
		}
		last = fmt.Sprintf("%s (%s)", result, summary(all))
	}
	t.Errorf("nobody has noticed: %s", last)
}

// TestForgottenRecordsAreFound: a journal that acknowledges what it has not
// written is found out after the crash.
func TestForgottenRecordsAreFound(t *testing.T) {
	t.Parallel()
	expose(t, func() scene {
		first := true
		return scene{
			store: inMemory(), seed: 11, players: 3, trees: 1, steps: 50,
			lie: func(j journal.Journal) journal.Journal {
				if !first {
					return j
				}
				first = false
				return &forgetful{Journal: j, after: 15}
			},
		}
	})
}
