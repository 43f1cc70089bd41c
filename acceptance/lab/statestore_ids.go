// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"encoding/json"
	"fmt"
	"strings"
)

// StateIDs are the ids of all objects in a state, in lower case. An empty text,
// as a killed CLI leaves it, holds none.
func StateIDs(state []byte) (ids []string, err error) {
	if len(state) == 0 {
		return nil, nil
	}
	var s struct {
		Resources []struct {
			Mode      string `json:"mode"`
			Instances []struct {
				Attributes struct {
					ID string `json:"id"`
				} `json:"attributes"`
			} `json:"instances"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(state, &s); err != nil {
		return nil, fmt.Errorf("read a state: %w", err)
	}
	for _, r := range s.Resources {
		for _, i := range r.Instances {
			if r.Mode == "managed" {
				ids = append(ids, strings.ToLower(i.Attributes.ID))
			}
		}
	}
	return ids, nil
}
