// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
)

// Config is what a coordinator process works with.
type Config struct {
	// Listen is the address: unix:///path/to/socket, or tcp://HOST:PORT with a
	// Security. Port 0 takes one that is free; Ready says which.
	Listen string
	// Security is needed for a tcp:// address, and for nothing else.
	Security Security
	// Address makes the address once the epoch is known; it takes the place
	// of Listen where every leader has an address of its own.
	Address func(epoch uint64) string
	// Dir is the folder of the journal, on a disk of this machine.
	Dir string
	// FileSystem is asked about Dir; nil means SystemFileSystem.
	FileSystem FileSystem
	// LeadWithin is how long to wait for a journal that another process
	// holds; 0 waits until the context ends.
	LeadWithin time.Duration
	// IdleExit ends the process after as long without a live session, without
	// a connection and without a held lock; 0 never does.
	IdleExit time.Duration
	// Version is the program's.
	Version string
	// Embedded says that the coordinator serves one user on one machine.
	Embedded bool
	// Logger gets what operators want to know; nil discards it.
	Logger *slog.Logger
	// Ready is called once connections are accepted and the address is
	// published, with that and the epoch.
	Ready func(address string, epoch uint64) error
}

// Run leads the journal in config.Dir and serves it until ctx ends or nobody
// was there for config.IdleExit. The journal is released last. It returns nil
// after an orderly end, and an InUseError when another process holds the journal
// for longer than config.LeadWithin. It is a NetworkError when other machines
// share the folder. While it serves, a file beside the journal
// says so: see ReadLeader.
func Run(ctx context.Context, config Config) (err error) {
	guard, err := prepare(config) // before the journal is touched
	if err != nil {
		return err
	}
	if err := config.onDisk(); err != nil {
		return err
	}
	j, err := bboltjournal.Open(config.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	c, err := start(ctx, config, j)
	if err != nil {
		return inUse(config.Dir, j.Explain(err))
	}
	defer func() { err = errors.Join(err, closeWithin(c)) }()
	s := New(c, Processes(filepath.Join(config.Dir, processesName)), Guarded(guard))
	s.removed = func() bool {
		_, err := os.Stat(j.Path())
		return errors.Is(err, fs.ErrNotExist)
	}
	return serve(ctx, config, c, s)
}

// onDisk makes sure that no other machine leads the journal, too.
func (c Config) onDisk() error {
	ask, log := c.FileSystem, c.Logger
	if ask == nil {
		ask = SystemFileSystem
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return ask.Local(c.Dir, "name one on a disk of this machine with --dir; the other machines reach this coordinator at its address, not at its folder", log)
}

// processesName is the file beside the journal about the processes of sessions.
const processesName = "processes"

// prepare checks what can be checked of the address. The guard is nil where
// nothing listens on a network.
func prepare(config Config) (*Guard, error) {
	switch {
	case config.Address != nil:
		return nil, nil
	case OnNetwork(config.Listen):
		if _, err := HostPort(config.Listen); err != nil {
			return nil, err
		}
		if missing := config.Security.missing(); missing != "" {
			return nil, &ExposedError{Address: config.Listen, Missing: missing}
		}
		guard, err := NewGuard(config.Security, config.Logger)
		if err != nil {
			return nil, err
		}
		return guard, guard.pair.check(config.Listen, time.Now(), guard.log)
	}
	path, err := SocketPath(config.Listen)
	if err != nil {
		return nil, err
	}
	return nil, prepareFolder(path)
}

// start leads the journal.
func start(ctx context.Context, config Config, j *bboltjournal.Journal) (*coordinator.Coordinator, error) {
	lead, cancel := ctx, context.CancelFunc(func() {})
	if config.LeadWithin > 0 {
		lead, cancel = context.WithTimeout(ctx, config.LeadWithin)
	}
	defer cancel()
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return coordinator.New(lead, coordinator.Config{
		Journal: j, Logger: config.Logger, Version: config.Version,
		Host: host, Store: j.Path(), Embedded: config.Embedded,
	})
}

func closeWithin(c *coordinator.Coordinator) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		return fmt.Errorf("close the coordinator: %w", err)
	}
	return nil
}

func serve(ctx context.Context, config Config, c *coordinator.Coordinator, s *Server) error {
	address := config.Listen
	if config.Address != nil {
		address = config.Address(c.Epoch())
	}
	l, err := s.listen(ctx, address)
	if err != nil {
		return err
	}
	if OnNetwork(address) {
		address = networkScheme + l.Addr().String()
	}
	defer removeSocket(address)
	leader := Leader{Address: address, PID: os.Getpid(), Version: config.Version, Epoch: c.Epoch()}
	gone := func() { unpublish(config.Dir, leader) }
	if err := publish(config.Dir, leader); err != nil {
		return errors.Join(err, l.Close())
	}
	if config.Ready != nil {
		if err := config.Ready(address, c.Epoch()); err != nil {
			gone()
			return errors.Join(err, l.Close())
		}
	}
	return s.Serve(ctx, &closing{Listener: l, before: gone}, config.IdleExit)
}

// listen listens on either kind of address.
func (s *Server) listen(ctx context.Context, address string) (net.Listener, error) {
	if s.guard != nil && OnNetwork(address) {
		return s.guard.Listen(ctx, address)
	}
	return Listen(ctx, address)
}

// closing calls before ahead of the first Close, so that nobody is sent to a
// listener that is gone.
type closing struct {
	net.Listener
	before func()
}

// Close implements net.Listener.
func (c *closing) Close() error {
	c.before()
	return c.Listener.Close()
}

// removeSocket is called while the journal is still held, so the socket cannot
// be a successor's.
func removeSocket(address string) {
	if path, err := SocketPath(address); err == nil {
		_ = os.Remove(path)
	}
}
