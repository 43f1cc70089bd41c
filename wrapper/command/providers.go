// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/plugins"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// errNothingToCoordinate: the configuration has no provider that could be
// proxied, so the CLI does all by itself, its own errors included.
var errNothingToCoordinate = errors.New("no provider to coordinate")

// source is a provider that will be proxied, checked but not started.
type source struct {
	address string
	// command starts it; unless running is set.
	command plugins.Command
	// hash is the verified checksum of its package; empty where there is none.
	hash string
	// running is the process that the user has started, and aliases are the keys
	// by which TF_REATTACH_PROVIDERS names it.
	running *plugins.Running
	aliases []string
}

// sources finds and checks the providers of the working folder. Providers
// that are not installed are left to the CLI, which says best what to do when
// it needs one; it cannot start them either. The secrets are variables that no
// provider gets.
//
// The CLI's own order holds: a process that the user has started goes before a
// development override, and that before the installed package.
func sources(w terraform.Workdir, product terraform.Product, env arguments.Environment, secrets []string, log hclog.Logger) ([]source, []views.Problem, error) {
	list, err := served(env, product)
	if err != nil {
		return nil, nil, err
	}
	overriding, err := overriding(env, product, addresses(list))
	if err != nil {
		return nil, nil, err
	}
	list = append(list, overriding...)
	installed, warnings, err := locked(w, addresses(list))
	if err != nil {
		return nil, nil, err
	}
	list = append(installed, list...)
	env = env.Without(secrets...)
	for i := range list {
		list[i].command.Source = list[i].address
		list[i].command.Env = env
		list[i].command.Dir = w.Root
		list[i].command.Logger = log
	}
	return list, warnings, nil
}

func addresses(list []source) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.address)
	}
	return out
}

// served are the providers that the user has started, usually under a debugger.
func served(env arguments.Environment, product terraform.Product) ([]source, error) {
	processes, err := intercept.ParseReattach(env.Get(intercept.ReattachEnv))
	if err != nil {
		return nil, err
	}
	var list []source
	for _, key := range slices.Sorted(maps.Keys(processes)) {
		running := processes[key]
		s := source{address: fullAddress(key, product), running: &running, aliases: []string{key}}
		if slices.Contains(addresses(list), s.address) {
			return nil, fmt.Errorf("%w: it names %s twice", intercept.ErrReattach, s.address)
		}
		list = append(list, s)
	}
	return list, nil
}

// overriding are the providers of dev_overrides but the ones to skip. The CLI warns
// of them, also where they are attached to it.
func overriding(env arguments.Environment, product terraform.Product, skip []string) (list []source, _ error) {
	overrides, err := devOverrides(env, product)
	if err != nil {
		return nil, err
	}
	for _, address := range slices.Sorted(maps.Keys(overrides)) {
		if slices.Contains(skip, address) {
			continue
		}
		path, err := overridden(address, overrides[address])
		if err != nil {
			return nil, err
		}
		list = append(list, source{address: address, command: plugins.Command{Path: path, Unverified: true}})
	}
	return list, nil
}

// locked are the providers of the dependency lock file but the ones to skip.
func locked(w terraform.Workdir, skip []string) (list []source, warnings []views.Problem, _ error) {
	lock, err := plugins.ReadLockFile(w.LockFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	entries := slices.DeleteFunc(lock.Entries, func(e plugins.Entry) bool { return slices.Contains(skip, e.Source) })
	for _, found := range verifyAll(entries, w.DataDir) {
		switch {
		case errors.Is(found.err, plugins.ErrNotInstalled):
			continue
		case errors.Is(found.err, plugins.ErrNoHashes):
			warnings = append(warnings, uncheckedWarning(found.pkg.Source))
		case found.err != nil:
			return nil, nil, found.err
		}
		list = append(list, source{address: found.pkg.Source, hash: found.seal.Hash, command: plugins.Command{
			Path: found.pkg.Executable, Check: found.seal.Holds,
		}})
	}
	return list, warnings, nil
}

func uncheckedWarning(address string) views.Problem {
	return views.Problem{
		Warning: true, Summary: "Provider package not checked",
		Detail: fmt.Sprintf("The dependency lock file has no checksum for %s; run \"terraform providers lock\" to record it.", address),
	}
}

// verified is a package of a lock entry, or why it cannot be used.
type verified struct {
	pkg  plugins.Package
	seal *plugins.Seal
	err  error
}

// verifyAll finds and checks the packages of lock entries, in their order. Large
// ones have hundreds of megabytes to be hashed, so all processors help.
func verifyAll(entries []plugins.Entry, dataDir string) []verified {
	out := make([]verified, len(entries))
	turn := make(chan struct{}, runtime.GOMAXPROCS(0))
	var work sync.WaitGroup
	for i, entry := range entries {
		work.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			out[i].pkg, out[i].err = plugins.Locate(entry, dataDir, plugins.Current())
			if out[i].err == nil {
				out[i].seal, out[i].err = plugins.Check(out[i].pkg, entry)
			}
		})
	}
	work.Wait()
	return out
}

// proxies are the providers as the proxy takes them. Each of their processes is
// made known to the coordinator before it gets its first call, so that its death
// can be known, and puts its socket into the given folder.
func (r *run) proxies(list []source, sockets string) []intercept.Provider {
	notes := plugins.NewNotes(notesDir(r.app.Env))
	out := make([]intercept.Provider, 0, len(list))
	for _, s := range list {
		proxied := intercept.Provider{Source: s.address, Aliases: s.aliases}
		if s.running != nil {
			proxied.Pool, proxied.Protocol = plugins.NewAttachedPool(*s.running), s.running.Protocol
		} else {
			s.command.SocketDir = sockets
			proxied.Protocol = notes.Protocol(s.hash)
			proxied.Pool = plugins.NewPool(r.launcher(s, notes, proxied.Protocol), plugins.DefaultIdle)
		}
		proxied.Pool.OnStart(r.announceSender)
		out = append(out, proxied)
	}
	return out
}

// launcher starts a provider. What it speaks is noted for the next runs; when it
// is another protocol than the CLI was told because of an earlier note, it cannot
// be used in this one.
func (r *run) launcher(s source, notes plugins.Notes, noted int) plugins.Launcher {
	return func(ctx context.Context) (plugins.Instance, error) {
		p, err := plugins.Launch(ctx, s.command)
		switch {
		case err != nil:
			return nil, err
		case noted == 0:
			if err := notes.Remember(s.hash, p.Protocol()); err != nil {
				r.log.DebugContext(ctx, "protocol version not noted", "provider", s.address, "error", err)
			}
		case noted != p.Protocol():
			notes.Forget(s.hash)
			p.Kill()
			return nil, fmt.Errorf("%s speaks plugin protocol %d, and not %d as tfweaver had noted of its package; nothing was sent to the cloud, and the note is removed: run the command again",
				s.address, p.Protocol(), noted)
		}
		return p, nil
	}
}

// announceSender tells the coordinator of a process that sends in the name of
// the session. One that is lost for good learns nothing any more; whether to
// send without it is for the gate to decide.
func (r *run) announceSender(ctx context.Context, s plugins.Sender) error {
	err := r.session.Senders(ctx, []coordinator.Process{{PID: s.PID, Started: s.Started}})
	if errors.Is(err, client.ErrLost) {
		r.log.WarnContext(ctx, "provider process not announced", "pid", s.PID, "error", err)
		return nil
	}
	return err
}
