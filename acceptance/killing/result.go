// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import "fmt"

// Result is what came of a round.
type Result struct {
	Round  int    `json:"round"`
	Seed   uint64 `json:"seed"`
	Kind   Kind   `json:"target"`
	Victim string `json:"victim,omitempty"`
	Moment Moment `json:"moment"`
	// Drawn tells the round to people.
	Drawn string `json:"drawn"`
	// Status is the victim's exit status as a shell shows it.
	Status int `json:"status"`
	// Killed is false when the victim had ended before there was anything to
	// kill; such a round counts for nothing.
	Killed bool `json:"killed"`
	// Delay is from the start of the victim to the kill, in seconds.
	DelayS float64 `json:"delay_s"`
	// InFlight counts the operations that the cloud was at when the kill came.
	InFlight int `json:"in_flight"`
	// Uncertain counts the calls whose outcome was unknown for a while; Read
	// those of them that a session settled by reading, Reported those whose own
	// sender told after all, and Open those that were not settled.
	Uncertain int `json:"uncertain"`
	Read      int `json:"settled_by_read"`
	Reported  int `json:"settled_by_sender"`
	Open      int `json:"open"`
	// SettledS is the longest time from the kill, or from the end of the operation
	// where that came later, to the read that settled the call, in seconds.
	SettledS float64 `json:"settled_s"`
	// BystanderS and RivalS are the times from the kill, or from the submission of
	// the call where that came later, to the moment at which the cloud got it, in
	// seconds. A rival may rightly have to wait for the call of the killed one.
	BystanderS float64 `json:"bystander_s"`
	RivalS     float64 `json:"rival_s"`
	// LeftFolders counts the private folders that the next run has not removed,
	// LeftProcesses the processes that have not ended.
	LeftFolders   int `json:"left_folders"`
	LeftProcesses int `json:"left_processes"`
	// Orphaned counts the objects that the cloud has made and that are in no state:
	// their provider was told to stop waiting for them, or was killed.
	Orphaned int     `json:"orphaned"`
	TookS    float64 `json:"took_s"`
	// Broken are sentences about what must not be.
	Broken []string `json:"broken,omitempty"`
}

func (r *Result) broke(format string, args ...any) {
	r.Broken = append(r.Broken, fmt.Sprintf(format, args...))
}
