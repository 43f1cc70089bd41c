// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package liveness

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// MaxSenders bounds the processes of one session.
const MaxSenders = 256

// ErrTooMany: a session has named more processes than can be kept.
var ErrTooMany = errors.New("too many processes for one session")

// Kin are the processes that can send in the name of one session.
type Kin struct {
	// Wrapper is the process that opened the session, as the kernel said.
	Wrapper coordinator.Process `json:"wrapper"`
	// Named says that the session has named its senders, be there none.
	Named bool `json:"named,omitempty"`
	// Senders are in the order in which they were named.
	Senders []coordinator.Process `json:"senders,omitempty"`
}

// all are the processes of the session.
func (k Kin) all() []coordinator.Process {
	return append([]coordinator.Process{k.Wrapper}, k.Senders...)
}

// Registry knows the processes of sessions. Its methods may be called
// concurrently.
type Registry struct {
	log  *slog.Logger
	path string // empty keeps nothing

	mu       sync.Mutex
	alarm    *alarm // nil while nobody watches
	sessions map[admission.SessionID]Kin
	changes  uint64 // counts them

	saving sync.Mutex
	saved  uint64 // the changes that the file holds
}

// Open reads what is known of processes from a file, which need not exist; an
// empty path keeps everything in memory only. A file that cannot be understood
// is a loss of knowledge, not an error: sessions in it stay unknown.
func Open(path string, log *slog.Logger) *Registry {
	r := &Registry{log: log, path: path, sessions: map[admission.SessionID]Kin{}}
	if path == "" {
		return r
	}
	known, err := load(path)
	if err != nil {
		log.Warn("what was known of processes is lost; only the end of leases tells who is gone", "error", err)
	}
	maps.Copy(r.sessions, known)
	return r
}

// Opened records the process that opened a session.
func (r *Registry) Opened(id admission.SessionID, wrapper coordinator.Process) error {
	return r.change(func() error {
		r.sessions[id] = Kin{Wrapper: wrapper}
		return nil
	})
}

// Name adds processes that may send in the name of a session. It says false
// when nothing is known of the session, whose processes then tell nothing. An
// error means that the processes may be forgotten at a restart: then the
// session must not let them send.
func (r *Registry) Name(id admission.SessionID, senders []coordinator.Process) (bool, error) {
	known := false
	err := r.change(func() error {
		k, ok := r.sessions[id]
		if known = ok; !ok {
			return nil
		}
		k.Named, k.Senders = true, slices.Clone(k.Senders)
		for _, p := range senders {
			if !slices.Contains(k.Senders, p) {
				k.Senders = append(k.Senders, p)
			}
		}
		if len(k.Senders) > MaxSenders {
			k.Senders = slices.DeleteFunc(k.Senders, func(p coordinator.Process) bool { return Look(p) == Dead })
		}
		if len(k.Senders) > MaxSenders {
			return fmt.Errorf("session %s: %w: %d", id, ErrTooMany, len(k.Senders))
		}
		r.sessions[id] = k
		return nil
	})
	return known, err
}

// Known is what is known of a session's processes.
func (r *Registry) Known(id admission.SessionID) (Kin, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, ok := r.sessions[id]
	k.Senders = slices.Clone(k.Senders)
	return k, ok
}

// Disown forgets a session whose processes turn out to be somewhere else.
func (r *Registry) Disown(id admission.SessionID) { r.forget(id) }

// forget drops sessions whose death would tell nothing any more.
func (r *Registry) forget(ids ...admission.SessionID) {
	err := r.change(func() error {
		for _, id := range ids {
			delete(r.sessions, id)
		}
		return nil
	})
	if err != nil {
		r.log.Warn("processes of ended sessions are still on file", "error", err)
	}
}

// change makes a change, keeps it, and wakes the watch.
func (r *Registry) change(f func() error) error {
	r.mu.Lock()
	err := f()
	r.changes++
	mine := r.changes
	r.mu.Unlock()
	if err != nil {
		return err
	}
	defer r.ring()
	return r.save(mine)
}

// ring wakes the watch, if there is one.
func (r *Registry) ring() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.alarm != nil {
		r.alarm.ring()
	}
}

// setAlarm begins or, with nil, ends the watch.
func (r *Registry) setAlarm(a *alarm) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alarm = a
}

// copy is what is known, as of which change.
func (r *Registry) copy() (map[admission.SessionID]Kin, uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.sessions), r.changes
}
