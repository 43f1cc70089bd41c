// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"

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
	command plugins.Command
}

// sources finds and checks the providers of the working folder. Providers
// that are not installed are left to the CLI, which says best what to do when
// it needs one; it cannot start them either. The secrets are variables that no
// provider gets.
func sources(w terraform.Workdir, product terraform.Product, env arguments.Environment, secrets []string, log *slog.Logger) ([]source, []views.Problem, error) {
	theirs, err := intercept.ReattachSources(env.Get(intercept.ReattachEnv))
	if err != nil {
		return nil, nil, err
	}
	var warnings []views.Problem
	for _, address := range theirs {
		warnings = append(warnings, views.Problem{
			Warning: true, Summary: "Provider not coordinated",
			Detail: fmt.Sprintf("%s names a process of your own for %s. Its changes are sent without asking the coordinator.", intercept.ReattachEnv, address),
		})
	}
	overrides, err := devOverrides(env, product)
	if err != nil {
		return nil, nil, err
	}
	list, more, err := locked(w, slices.Concat(theirs, slices.Collect(maps.Keys(overrides))))
	if err != nil {
		return nil, nil, err
	}
	warnings = append(warnings, more...)
	for _, address := range slices.Sorted(maps.Keys(overrides)) {
		if slices.Contains(theirs, address) {
			continue
		}
		path, err := overridden(address, overrides[address])
		if err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, overrideWarning(address, overrides[address]))
		list = append(list, source{address: address, command: plugins.Command{Path: path}})
	}
	env = env.Without(secrets...)
	for i := range list {
		list[i].command.Env = env
		list[i].command.Dir = w.Root
		list[i].command.Logger = log
	}
	return list, warnings, nil
}

// locked are the providers of the dependency lock file but the ones to skip.
func locked(w terraform.Workdir, skip []string) ([]source, []views.Problem, error) {
	lock, err := plugins.ReadLockFile(w.LockFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var list []source
	var warnings []views.Problem
	for _, entry := range lock.Entries {
		if slices.Contains(skip, entry.Source) {
			continue
		}
		pkg, err := plugins.Locate(entry, w.DataDir, plugins.Current())
		if errors.Is(err, plugins.ErrNotInstalled) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		err = plugins.Verify(pkg, entry)
		switch {
		case errors.Is(err, plugins.ErrNoHashes):
			warnings = append(warnings, views.Problem{
				Warning: true, Summary: "Provider package not checked",
				Detail: fmt.Sprintf("The dependency lock file has no checksum for %s; run \"terraform providers lock\" to record it.", entry.Source),
			})
		case err != nil:
			return nil, nil, err
		}
		list = append(list, source{address: entry.Source, command: plugins.Command{Path: pkg.Executable}})
	}
	return list, warnings, nil
}

// proxies are the providers as the proxy takes them. Each of their processes is
// made known to the coordinator before it gets its first call, so that its death
// can be known, and puts its socket into the given folder.
func (r *run) proxies(list []source, sockets string) []intercept.Provider {
	out := make([]intercept.Provider, 0, len(list))
	for _, s := range list {
		s.command.SocketDir = sockets
		launch := func(ctx context.Context) (plugins.Instance, error) { return plugins.Launch(ctx, s.command) }
		pool := plugins.NewPool(launch, plugins.DefaultIdle)
		pool.OnStart(r.announceSender)
		out = append(out, intercept.Provider{Source: s.address, Pool: pool})
	}
	return out
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
