// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Line is the part of a line of tfweaver's JSON output that tells of waiting
// and refusing. Terraform's own lines have other types.
type Line struct {
	Type    string    `json:"type"`
	Time    time.Time `json:"@timestamp"`
	Message string    `json:"@message"`
	Address string    `json:"address"`
	Tx      string    `json:"tx"`
	// Waited is for how long the call has waited, in seconds; nil in the
	// forecast of a wait.
	Waited *float64 `json:"waited"`
	Report struct {
		Requester struct {
			Actor string `json:"actor"`
		} `json:"requester"`
		Conflicts []Conflict `json:"conflicts"`
	} `json:"report"`
}

// Conflict is one reason of a wait or of a refusal.
type Conflict struct {
	Relation string `json:"relation"`
	Holder   *struct {
		Actor     string `json:"actor"`
		Objective string `json:"objective"`
	} `json:"holder"`
	// Capacity is set where a count is in the way.
	Capacity *struct {
		Bucket   string `json:"bucket"`
		Limit    int64  `json:"limit"`
		Used     int64  `json:"used"`
		Reserved int64  `json:"reserved"`
		Asked    int64  `json:"asked"`
	} `json:"capacity"`
}

// The types of tfweaver's lines.
const (
	LineWait     = "weaver_wait"
	LineAdmitted = "weaver_admitted"
	LineConflict = "weaver_conflict"
)

// Lines reads the output of a run with -json. Text among the lines is an error:
// programs that read such output would stumble over it.
func Lines(output string) ([]Line, error) {
	var lines []Line
	for text := range strings.Lines(output) {
		var l Line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			return nil, fmt.Errorf("output line %q: %w", strings.TrimSpace(text), err)
		}
		lines = append(lines, l)
	}
	return lines, nil
}
