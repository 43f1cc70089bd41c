// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// stage is a simulated cloud in virtual time that tells which operations end.
type stage struct {
	clock *simcloud.VirtualClock
	cloud *simcloud.Cloud
	start time.Time
	// ended are the operations that have ended and were not looked at yet.
	ended []ending
}

// ending is the end of an operation.
type ending struct {
	OperationID string          `json:"operation_id"`
	Status      activity.Status `json:"status"`
}

// epoch is when virtual time begins: later than zero, like any record.
func epoch() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }

// newStage makes a cloud with what the scene has there before.
func newStage(s Scene, latencies uint64) (*stage, error) {
	st := &stage{clock: simcloud.NewVirtualClock(epoch())}
	cloud, err := simcloud.New(simcloud.Config{Seed: latencies, Quotas: s.Quotas, FirstCallExtra: s.FirstCallExtra, Clock: st.clock, Log: st})
	if err != nil {
		return nil, fmt.Errorf("make the cloud: %w", err)
	}
	st.cloud = cloud
	for i := range s.Shared {
		if _, refusal := st.write(&s.Shared[i], "furniture"); refusal != nil {
			return nil, fmt.Errorf("make %s: %w", s.Shared[i].Address, refusal)
		}
		for st.clock.Step() {
		}
	}
	st.start, st.ended = st.clock.Now(), nil
	return st, nil
}

// Write takes the cloud's log, line by line, while the cloud is locked.
func (s *stage) Write(line []byte) (int, error) {
	var e ending
	if err := json.Unmarshal(line, &e); err != nil {
		return 0, fmt.Errorf("read the activity log: %w", err)
	}
	switch e.Status {
	case activity.Succeeded, activity.Failed, activity.Canceled:
		if e.OperationID != "" {
			s.ended = append(s.ended, e)
		}
	}
	return len(line), nil
}

// now is the time since the first arrival.
func (s *stage) now() time.Duration { return s.clock.Now().Sub(s.start) }

// write sends the creation of an object. A rule is sent with its group's change
// token as read at that moment.
func (s *stage) write(o *Operation, actor string) (operation string, refusal *arm.Error) {
	body, err := o.body()
	if err != nil {
		return "", &arm.Error{Code: arm.CodeInternal, Message: err.Error()}
	}
	call := simcloud.Call{Method: "PUT", Path: o.ID.String(), Body: body, Actor: actor}
	if o.ID.Kind == arm.SecurityRule {
		group, refusal := s.cloud.Read(simcloud.Call{Method: "GET", Path: parentOf(o.ID)})
		if refusal != nil {
			return "", refusal
		}
		call.IfMatch = group.Etag
	}
	accepted, refusal := s.cloud.Write(call)
	return accepted.OperationID, refusal
}
