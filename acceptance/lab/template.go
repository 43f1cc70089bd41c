// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// templates are initialised folders. Every workspace with the same preamble is
// initialised alike, so it is done once.
type templates struct {
	mu  sync.Mutex
	dir map[templateKey]string
}

// templateKey tells templates apart.
type templateKey struct {
	protocol int
	preamble string
}

// template is a folder that was initialised with a preamble.
func (l *Lab) template(ctx context.Context, e *Experiment, preamble string) (string, error) {
	l.templates.mu.Lock()
	defer l.templates.mu.Unlock()
	key := templateKey{e.setup.Protocol, preamble}
	if dir, ok := l.templates.dir[key]; ok {
		return dir, nil
	}
	dir, err := os.MkdirTemp(l.dir, "template")
	if err != nil {
		return "", fmt.Errorf("make the template: %w", err)
	}
	w := &Workspace{Actor: "template", Dir: dir, of: e}
	if err := w.Write("main.tf", preamble); err != nil {
		return "", err
	}
	if err := w.Init(ctx); err != nil {
		return "", err
	}
	if l.templates.dir == nil {
		l.templates.dir = make(map[templateKey]string)
	}
	l.templates.dir[key] = w.Dir
	return w.Dir, nil
}

// initialiseLike gives a workspace what init has put into another folder.
func (w *Workspace) initialiseLike(template string) error {
	for _, name := range []string{".terraform", lockFile} {
		from, to := filepath.Join(template, name), filepath.Join(w.Dir, name)
		info, err := os.Stat(from)
		switch {
		case err != nil:
		case info.IsDir():
			err = os.CopyFS(to, os.DirFS(from))
		default:
			err = copyFile(from, to)
		}
		if err != nil {
			return fmt.Errorf("initialise workspace %s: %w", w.Actor, err)
		}
	}
	return w.locked()
}
