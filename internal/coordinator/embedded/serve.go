// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"context"
	"os"
	"path/filepath"

	"github.com/tfweaver/tfweaver/internal/coordinator/server"
)

// Serve is the coordinator that Connect starts: it leads the journal in the
// state folder, publishes where it listens, and ends when ctx does or when
// nobody was there for IdleExit. It returns a server.InUseError when another
// process keeps the journal.
func Serve(ctx context.Context, o Options) error {
	o, err := o.complete()
	if err != nil {
		return err
	}
	if err := o.prepare(); err != nil {
		return err
	}
	o.Logger.Info("starting", "dir", o.Dir, "version", o.Version, "pid", os.Getpid())
	if dir := os.Getenv(runtimeVariable); dir != "" && filepath.Dir(o.runtime()) != filepath.Clean(dir) && o.Runtime == "" {
		o.Logger.Warn("no sockets in "+runtimeVariable+": its path is relative or too long", "instead", o.runtime())
	}
	ctx, watch, cancel := o.whileInPlace(ctx)
	defer cancel()
	err = server.Run(ctx, server.Config{
		Address:    func(epoch uint64) string { return "unix://" + o.socket(epoch) },
		Dir:        o.Dir,
		FileSystem: o.fileSystem,
		LeadWithin: leadWithin,
		IdleExit:   o.IdleExit,
		Version:    o.Version,
		Embedded:   true,
		Logger:     o.Logger,
		Ready: func(_ string, epoch uint64) error {
			o.sweep(epoch)
			watch(epoch)
			return nil
		},
	})
	if err != nil {
		o.confess(err)
	}
	return err
}
