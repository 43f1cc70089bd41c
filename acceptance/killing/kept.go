// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// states are the ids of all objects in the states of the workspaces, in lower
// case.
func (p *play) states(context.Context) (map[string]bool, error) {
	ids := make(map[string]bool)
	for name, w := range p.spaces {
		found, err := stateIDs(filepath.Join(w.Dir, "terraform.tfstate"))
		if err != nil {
			return nil, fmt.Errorf("state of %s: %w", name, err)
		}
		for _, id := range found {
			ids[strings.ToLower(id)] = true
		}
	}
	return ids, nil
}

// stateIDs are the ids in a state file. A file that is not there holds none, and
// neither does an empty one, as a killed CLI leaves it.
func stateIDs(file string) (ids []string, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var state struct {
		Resources []struct {
			Instances []struct {
				Attributes struct {
					ID string `json:"id"`
				} `json:"attributes"`
			} `json:"instances"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(text, &state); err != nil {
		return nil, err
	}
	for _, r := range state.Resources {
		for _, i := range r.Instances {
			ids = append(ids, i.Attributes.ID)
		}
	}
	return ids, nil
}

// judgeKept: nothing is lost. What the cloud has made is known to the graph as
// being there, or as left behind by a call that failed for who sent it, or the graph
// says that it does not know; and neither the graph nor a state knows of something
// that the cloud does not have.
func judgeKept(r *Result, log activity.Log, known map[string]graph.Lifecycle, states map[string]bool) {
	made := make(map[string]bool)
	for _, o := range log.Operations {
		id := strings.ToLower(o.ObjectID)
		if o.Result != activity.Succeeded {
			continue
		}
		made[id] = true
		l := known[id]
		kept := l == graph.Operational || l == graph.Uncertain || l == graph.Failed && !states[id]
		if o.Actor != lab.Furniture && !kept {
			r.broke("the cloud has made %s; in the graph it is %q, in a state: %v", o.ObjectID, l, states[id])
		}
	}
	for id := range states {
		if !made[id] {
			r.broke("%s is in a state, and the cloud has not made it", id)
		}
	}
	for id, l := range known {
		if l == graph.Operational && !made[id] {
			r.broke("%s is operational in the graph, and the cloud has not made it", id)
		}
	}
}

// lifecycles is what the graph says of the objects that sessions make, by their
// ids in the cloud.
func lifecycles(st *admission.State) map[string]graph.Lifecycle {
	found := make(map[string]graph.Lifecycle)
	for n := range st.Graph().Nodes() {
		id := objectOf(n.ID)
		if object := strings.Contains(id, "/subnets/") || strings.Contains(id, "/publicipaddresses/"); object && !strings.Contains(id, "~") {
			found[id] = n.Lifecycle
		}
	}
	return found
}
