// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Tidy deletes from the cloud, past Terraform, what the workspace's actor has made
// and is not in the workspace's state, as a person does: a run that is told to end
// in the middle of a call leaves such objects behind, with tfweaver or without,
// because the provider stops waiting for the cloud. Objects that are tainted by that go
// the same way: to replace one Terraform asks the provider to delete it without its
// private data, which this provider insists on. It waits until the cloud is quiet, and
// says how many there were.
func (w *Workspace) Tidy(ctx context.Context) (deleted int, err error) {
	var log activity.Log
	err = w.of.Cloud.Await(ctx, "the cloud is quiet", func(l activity.Log) bool {
		log = l
		return !slices.ContainsFunc(l.Operations, func(o activity.Operation) bool { return !o.Done() })
	})
	if err != nil {
		return 0, err
	}
	if err := w.forget(ctx); err != nil {
		return 0, err
	}
	state, err := os.ReadFile(filepath.Join(w.Dir, "terraform.tfstate"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("tidy up after %s: %w", w.Actor, err)
	}
	known := strings.ToLower(string(state))
	for _, o := range log.Operations {
		if o.Actor != w.Actor || o.Method != "PUT" || o.Result != activity.Succeeded || strings.Contains(known, strings.ToLower(`"`+o.ObjectID+`"`)) {
			continue
		}
		if err := w.of.Cloud.remove(ctx, o.ObjectID); err != nil {
			return deleted, fmt.Errorf("tidy up after %s: %w", w.Actor, err)
		}
		deleted++
	}
	return deleted, nil
}

// forget takes tainted objects out of the state.
func (w *Workspace) forget(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(w.Dir, "terraform.tfstate"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("tidy up after %s: %w", w.Actor, err)
	}
	var state struct {
		Resources []struct {
			Type, Name string
			Instances  []struct{ Status string }
		}
	}
	if err := json.Unmarshal(text, &state); err != nil {
		return fmt.Errorf("tidy up after %s: %w", w.Actor, err)
	}
	for _, r := range state.Resources {
		if len(r.Instances) == 0 || r.Instances[0].Status != "tainted" {
			continue
		}
		run, err := w.Terraform(ctx, "state", "rm", r.Type+"."+r.Name)
		if err == nil {
			err = run.MustSucceed()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Cloud) remove(ctx context.Context, object string) error {
	id, err := arm.ParseID(object)
	if err != nil {
		return err
	}
	cloud, err := c.Client(Furniture)
	if err != nil {
		return err
	}
	defer cloud.Close()
	return cloud.Delete(ctx, id, "")
}
