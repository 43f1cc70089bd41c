// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/terraform"
)

// maxState bounds a state that is read, in bytes.
const maxState = 1 << 30

// stateVersion tells the versions of a state apart, as Terraform does: each write
// has the next serial, and each state that is begun anew a lineage of its own. A
// state that is not there yet has neither.
type stateVersion struct {
	Serial  uint64 `json:"serial"`
	Lineage string `json:"lineage"`
}

func readVersion(text io.Reader) (v stateVersion, err error) {
	if err = json.NewDecoder(io.LimitReader(text, maxState)).Decode(&v); errors.Is(err, io.EOF) {
		return v, nil // an empty file is no state yet
	}
	return v, err
}

// madeOn is the version that a saved plan was made on. The file is an archive with
// that state inside of it. Where it is encrypted, that is an error.
func madeOn(path string) (v stateVersion, err error) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return v, fmt.Errorf("open the plan file: %w", err)
	}
	defer archive.Close()
	f, err := archive.Open("tfstate")
	if err != nil {
		return v, fmt.Errorf("open the plan file: %w", err)
	}
	defer f.Close()
	if v, err = readVersion(f); err != nil {
		return v, fmt.Errorf("read the state of the plan: %w", err)
	}
	return v, nil
}

// localVersion is the version of a state in a file. ok is false where the state
// is not in one.
func (r *run) localVersion() (v stateVersion, ok bool) {
	if r.workdir.Backend != "local" {
		return v, false
	}
	path, err := r.workdir.LocalState(r.opts.State)
	if err != nil {
		return v, false
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return v, true
	}
	if err != nil {
		return v, false
	}
	defer f.Close()
	v, err = readVersion(f)
	return v, err == nil
}

// currentVersion is the version of the state now, wherever it is.
func (r *run) currentVersion(ctx context.Context) (v stateVersion, err error) {
	if v, ok := r.localVersion(); ok {
		return v, nil
	}
	p := r.process()
	p.Args = append(append([]string{}, r.inv.Global...), "state", "pull")
	p.Env, p.Stdin, p.Signals = r.halfEnv(), nil, nil
	text, err := p.Output(ctx, maxState)
	if err != nil {
		return v, fmt.Errorf("read the state: %w", err)
	}
	return readVersion(bytes.NewReader(terraform.Document(text)))
}

// overtaken says at once, where that costs nothing, whether somebody has written
// the state since a plan was made; before is the version from before the plan.
func (r *run) overtaken(path string, before stateVersion) bool {
	now, ok := r.localVersion()
	if !ok || now == before {
		return false
	}
	made, err := madeOn(path)
	return err != nil || made != now
}

// moved finds out after a failure whether somebody has written the state since a
// plan was made. Where that cannot be known it is false, and the error of the CLI
// stands.
func (r *run) moved(ctx context.Context, path string) bool {
	ctx, stop := r.app.interruptible(ctx)
	defer stop()
	made, err := madeOn(path)
	if err != nil {
		r.log.InfoContext(ctx, "not known what the plan was made on", "error", err)
		return false
	}
	now, err := r.currentVersion(ctx)
	if err != nil {
		r.log.InfoContext(ctx, "state not read", "error", err)
		return false
	}
	return now != made
}

// difference says in one line how a plan differs from the one before, by what it
// does to which address.
func difference(before, now map[string]string) string {
	var came, gone []string
	for _, address := range slices.Sorted(maps.Keys(now)) {
		if what := now[address]; before[address] != what {
			came = append(came, what+" "+address)
		}
	}
	for _, address := range slices.Sorted(maps.Keys(before)) {
		if what := before[address]; now[address] != what {
			gone = append(gone, what+" "+address)
		}
	}
	var parts []string
	if len(came) > 0 {
		parts = append(parts, "new: "+listed(came))
	}
	if len(gone) > 0 {
		parts = append(parts, "no more: "+listed(gone))
	}
	if len(parts) == 0 {
		return "It does the same to the same objects as the plan before; the values may differ."
	}
	return "Beside the plan before, " + strings.Join(parts, "; ") + "."
}

// maxListed bounds how many changes one line names.
const maxListed = 8

func listed(changes []string) string {
	if n := len(changes) - maxListed; n > 0 {
		return strings.Join(changes[:maxListed], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(changes, ", ")
}
