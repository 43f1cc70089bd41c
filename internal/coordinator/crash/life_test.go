// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package crash

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// teller is a journal that tells what is about to be written and what was
// acknowledged.
type teller struct {
	journal.Journal
	told io.Writer
	mu   sync.Mutex // of told
	// broken says what becomes of the next append: nothing special, or its
	// outcome is not known, and it was written or not.
	broken, written bool
}

func (j *teller) say(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	fmt.Fprintf(j.told, format+"\n", args...)
}

// Lead implements journal.Journal.
func (j *teller) Lead(ctx context.Context) (journal.Epoch, error) {
	epoch, err := j.Journal.Lead(ctx)
	if err == nil {
		j.say("leads %d", epoch)
	}
	return epoch, err
}

// Append implements journal.Journal.
func (j *teller) Append(ctx context.Context, epoch journal.Epoch, after journal.Index, batch [][]byte) (journal.Index, error) {
	if j.broken && !j.written {
		j.broken = false
		return 0, journal.ErrUnknown
	}
	texts := make([]string, len(batch))
	for i, data := range batch {
		texts[i] = base64.StdEncoding.EncodeToString(data)
	}
	j.say("tries %d %s", after, strings.Join(texts, " "))
	last, err := j.Journal.Append(ctx, epoch, after, batch)
	if err == nil && j.broken {
		j.broken = false
		return 0, journal.ErrUnknown
	}
	if err == nil {
		j.say("wrote %d %d", last, epoch)
	}
	return last, err
}

// SaveSnapshot implements journal.Journal.
func (j *teller) SaveSnapshot(ctx context.Context, epoch journal.Epoch, at journal.Index, state io.Reader) error {
	err := j.Journal.SaveSnapshot(ctx, epoch, at, state)
	if err == nil {
		j.say("saved %d", at)
	}
	return err
}

// life is what a coordinator goes through.
type life struct {
	ctx  context.Context
	open func() (journal.Journal, error)
	told io.Writer
	// every and retain are the coordinator's SnapshotEvery and Retain.
	every, retain uint64

	j    *teller
	c    *coordinator.Coordinator
	keys uint64
}

func (l *life) begin() error {
	j, err := l.open()
	if err != nil {
		return err
	}
	l.j = &teller{Journal: j, told: l.told}
	l.c, err = coordinator.New(l.ctx, coordinator.Config{Journal: l.j, SnapshotEvery: l.every, Retain: l.retain})
	return err
}

func (l *life) end() error {
	return errors.Join(l.c.Close(l.ctx), l.j.Close())
}

// sessionLease is that of all sessions.
const sessionLease = time.Hour

func (l *life) session(actor string) (admission.SessionID, error) {
	o, err := l.c.OpenSession(l.ctx, admission.Session{Actor: actor, Lease: int64(sessionLease)}, admission.Intent{Objective: "test"})
	if err == nil {
		l.j.say("opened %s", o.Session)
	}
	return o.Session, err
}

// submit asks for a network, and says what was decided.
func (l *life) submit(s admission.SessionID, network string) (coordinator.Decision, error) {
	l.keys++
	return l.repeat(s, network, l.keys)
}

func (l *life) repeat(s admission.SessionID, network string, key uint64) (coordinator.Decision, error) {
	r := coordinatortest.Create(network, "a")
	r.Key = key
	d, f, err := l.c.Submit(l.ctx, s, r, "")
	if f != nil {
		f.Close()
	}
	if err == nil {
		l.j.say("is %s %s %s %d %s %d", d.Tx, d.Status, s, key, network, d.Token)
	}
	return d, err
}

// run starts a call and, with complete set, ends it.
func (l *life) run(s admission.SessionID, d coordinator.Decision, complete bool) error {
	l.j.say("starts %s", d.Tx)
	if _, err := l.c.Start(l.ctx, s, d.Tx, d.Token); err != nil {
		return err
	}
	l.j.say("now %s %s", d.Tx, admission.Actioning)
	if !complete {
		return nil
	}
	return l.complete(s, d)
}

func (l *life) complete(s admission.SessionID, d coordinator.Decision) error {
	l.j.say("ends %s", d.Tx)
	err := l.c.Complete(l.ctx, s, coordinator.Outcome{Tx: d.Tx, Token: d.Token, Result: admission.Succeeded, Exists: true})
	if err == nil {
		l.j.say("now %s %s", d.Tx, admission.Operational)
	}
	return err
}

// whole runs a call from its beginning to its end.
func (l *life) whole(s admission.SessionID, network string) error {
	d, err := l.submit(s, network)
	if err != nil {
		return err
	}
	return l.run(s, d, true)
}

// objective is long, so that some of them make a large state.
var objective = strings.Repeat("why? ", 800)

// crowd lets many commands come at once.
func (l *life) crowd(s admission.SessionID, n int) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { _, errs[i] = l.c.AddIntent(l.ctx, s, admission.Intent{Objective: objective}) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// errDead is what a process that has ended gets from its journal.
var errDead = errors.New("the process has ended")

// unknown lets the outcome of an append be unknown: the coordinator leads anew,
// and the same key gets an answer.
func (l *life) unknown(s admission.SessionID, network string, written bool) error {
	l.j.broken, l.j.written = true, written
	_, err := l.submit(s, network)
	if !errors.Is(err, coordinator.ErrUnavailable) {
		return fmt.Errorf("the append failed, and submit says %w", err)
	}
	for {
		_, err = l.repeat(s, network, l.keys)
		if !errors.Is(err, coordinator.ErrUnavailable) || errors.Is(err, errDead) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// short is a life with everything in it once.
func (l *life) short() error {
	l.every, l.retain = 1<<40, 1
	var alice admission.SessionID
	var held coordinator.Decision
	return inTurn(
		l.begin,
		func() (err error) { alice, err = l.session("alice"); return err },
		func() (err error) { held, err = l.submit(alice, "held"); return err },
		func() error { return l.run(alice, held, false) },
		l.end,
		l.begin,
		func() error { return l.complete(alice, held) },
		l.end,
	)
}

// long is a life with everything in it in many ways.
func (l *life) long(chunky int) error {
	l.every, l.retain = 24, 8
	var alice, bob admission.SessionID
	var held coordinator.Decision
	return inTurn(
		l.begin,
		func() (err error) { alice, err = l.session("alice"); return err },
		func() (err error) { bob, err = l.session("bob"); return err },
		func() error { return l.whole(alice, "n1") },
		func() (err error) { held, err = l.submit(alice, "held"); return err },
		func() error { return l.run(alice, held, false) },
		func() error { _, err := l.submit(bob, "held"); return err },
		func() error { _, err := l.submit(bob, "admitted"); return err },
		func() error { return l.crowd(bob, chunky) },
		func() error { return l.whole(bob, "n2") },
		func() error { return l.crowd(alice, chunky) },
		func() error { return l.whole(bob, "n1") },
		func() error { return l.crowd(bob, 3) },
		l.end,
		l.begin,
		func() error { return l.whole(alice, "n3") },
		func() error { return l.unknown(alice, "n4", true) },
		func() error { return l.unknown(bob, "n5", false) },
		func() error { return l.complete(alice, held) },
		func() error { return l.whole(alice, "n6") },
		l.end,
	)
}

func inTurn(steps ...func() error) error {
	for _, f := range steps {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}
