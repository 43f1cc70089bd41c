// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package throughput_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

// maxConnections bounds the connections of a run; more clients share them.
const maxConnections = 64

// store is a kind of journal. open makes a new one in a folder of its own.
type store struct {
	name string
	open func(dir string) (journal.Journal, error)
}

func stores() []store {
	return []store{
		{"mem", func(string) (journal.Journal, error) { return memjournal.New(), nil }},
		{"bbolt", func(dir string) (journal.Journal, error) { return bboltjournal.Open(dir) }},
	}
}

// place is where the subjects of one table row live.
type place struct {
	b     *testing.B
	dir   string
	store store
	n     int // clients
}

func newPlace(b *testing.B, s store, n int) place {
	b.Helper()
	dir, err := os.MkdirTemp("", "weaver") // short: a socket's path has an end
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return place{b: b, dir: dir, store: s, n: n}
}

// journal makes a store; it is closed by the function returned.
func (p place) journal(name string) (journal.Journal, func()) {
	p.b.Helper()
	j, err := p.store.open(filepath.Join(p.dir, name))
	if err != nil {
		p.b.Fatal(err)
	}
	return j, func() {
		if err := j.Close(); err != nil {
			p.b.Error(err)
		}
		os.RemoveAll(filepath.Join(p.dir, name))
	}
}

// raw is the journal alone, with records of the given size.
func (p place) raw(size int) (subject, func()) {
	p.b.Helper()
	j, closeJournal := p.journal("raw")
	g, err := newGroup(p.b.Context(), j)
	if err != nil {
		p.b.Fatal(err)
	}
	entries := make([]*entry, p.n)
	for i := range entries {
		entries[i] = &entry{data: record(size), done: make(chan error, 1)}
	}
	commit := func(client, _ int) error { return g.commit(entries[client]) }
	return subject{name: "raw", commit: commit}, func() {
		g.close()
		closeJournal()
	}
}

func record(size int) []byte {
	data := make([]byte, size)
	for i := range data {
		data[i] = 'a' + byte(i%26)
	}
	return data
}

// coordinator runs one over a new journal.
func (p place) coordinator(name string) (*coordinator.Coordinator, journal.Journal, func()) {
	p.b.Helper()
	j, closeJournal := p.journal(name)
	c, err := coordinator.New(p.b.Context(), coordinator.Config{Journal: j})
	if err != nil {
		p.b.Fatal(err)
	}
	return c, j, func() {
		if err := c.Close(context.Background()); err != nil {
			p.b.Error(err)
		}
		closeJournal()
	}
}

// inProcess is the coordinator called in its own process; every client is a
// session. A commit is a Submit that is admitted, a release is a Withdraw.
func (p place) inProcess() (subject, journal.Journal, func()) {
	p.b.Helper()
	c, j, closeCoordinator := p.coordinator("process")
	ids, held := make([]admission.SessionID, p.n), make([][heldPerClient]admission.TxID, p.n)
	plans, keys := p.plans(), make([]uint64, p.n)
	s := subject{
		name: "process",
		commit: func(client, n int) error {
			request := plans[client][n]
			keys[client]++
			request.Key = keys[client]
			d, _, err := c.Submit(context.Background(), ids[client], request, "")
			if err == nil && d.Status != admission.Admitted {
				err = fmt.Errorf("%s is %s", d.Tx, d.Status)
			}
			held[client][n] = d.Tx
			return err
		},
		release: func(client, n int) error {
			return c.Withdraw(context.Background(), ids[client], held[client][n], "not sent")
		},
		renew: func() error { return renew(c, ids) },
	}
	return s, j, closeCoordinator
}

// renew closes the sessions, those that were opened, and opens others.
func renew(c *coordinator.Coordinator, ids []admission.SessionID) error {
	for i, old := range ids {
		if old != "" {
			if _, err := c.CloseSession(context.Background(), old); err != nil {
				return err
			}
		}
		opened, err := c.OpenSession(context.Background(),
			admission.Session{Actor: fmt.Sprintf("bench%d", i), Policy: admission.Queue, Lease: int64(time.Hour)}, admission.Intent{})
		if err != nil {
			return err
		}
		ids[i] = opened.Session
	}
	return nil
}

func (p place) plans() [][heldPerClient]admission.Request {
	plans := make([][heldPerClient]admission.Request, p.n)
	for i := range plans {
		for n := range heldPerClient {
			plans[i][n] = plan(i, n)
		}
	}
	return plans
}

// remote is the coordinator behind gRPC on a unix socket, with the client of
// this project.
func (p place) remote() (subject, func()) {
	p.b.Helper()
	c, _, closeCoordinator := p.coordinator("remote")
	address, closeServer := p.serve(c)
	sessions, closeClients := p.dial(address)
	held, plans := make([][heldPerClient]*client.Grant, p.n), p.plans()
	s := subject{
		name: "grpc",
		commit: func(client, n int) (err error) {
			held[client][n], err = sessions.list[client].Submit(context.Background(), plans[client][n], "", nil)
			return err
		},
		release: func(client, n int) error { return held[client][n].Withdraw(context.Background()) },
		renew:   sessions.renew,
	}
	return s, func() {
		closeClients()
		closeServer()
		closeCoordinator()
	}
}

func (p place) serve(c *coordinator.Coordinator) (string, func()) {
	p.b.Helper()
	address := "unix://" + filepath.Join(p.dir, "s")
	l, err := server.Listen(p.b.Context(), address)
	if err != nil {
		p.b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.New(c).Serve(ctx, l, 0) }()
	return address, func() {
		cancel()
		if err := <-served; err != nil {
			p.b.Error(err)
		}
	}
}

// dial opens the connections that the clients share.
func (p place) dial(address string) (*remoteSessions, func()) {
	p.b.Helper()
	r := &remoteSessions{conns: make([]*client.Client, min(p.n, maxConnections)), list: make([]*client.Session, p.n)}
	for i := range r.conns {
		var err error
		if r.conns[i], err = client.Dial(p.b.Context(), address); err != nil {
			p.b.Fatal(err)
		}
	}
	return r, func() {
		if err := r.close(); err != nil {
			p.b.Error(err)
		}
	}
}

// remoteSessions are the sessions of all clients.
type remoteSessions struct {
	conns []*client.Client
	list  []*client.Session
}

// renew closes the sessions, those that were opened, and opens others.
func (r *remoteSessions) renew() error {
	for i, old := range r.list {
		if old != nil {
			if _, err := old.Close(context.Background()); err != nil {
				return err
			}
		}
		var err error
		config := client.SessionConfig{Actor: fmt.Sprintf("bench%d", i), Lease: time.Hour}
		if r.list[i], err = r.conns[i%len(r.conns)].Open(context.Background(), config); err != nil {
			return err
		}
	}
	return nil
}

func (r *remoteSessions) close() error {
	var errs []error
	for _, s := range r.list {
		if s != nil {
			_, err := s.Close(context.Background())
			errs = append(errs, err)
		}
	}
	for _, c := range r.conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
