// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"net/http"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// slowestLanding is the longest way of a request to the cloud. The rules of the
// simulated cloud say that a request lands within two seconds.
const slowestLanding = 1200 * time.Millisecond

// toCloud carries a read, or any answer, between a machine and the cloud.
func (w *World) toCloud(m *machine, deliver func()) {
	if w.strikes(CloudDropAnswer) {
		return
	}
	d := w.between(fastest, usual)
	if w.strikes(CloudDelay) {
		d = w.between(usual, slowestLanding)
	}
	w.clock.AfterFunc(d, func() {
		if m.apart {
			w.count(CloudPartition)
			return
		}
		deliver()
	})
}

// flight is a request on its way to the cloud, which nothing can call back.
type flight struct{ plugin *plugin }

// write carries a write to the cloud and its answer back. Either may be lost, and
// the cloud may have trouble of its own.
func (w *World) write(t *task, c simcloud.Call, answer func(simcloud.Accepted, *arm.Error)) {
	w.judge.sent(t)
	if w.strikes(CloudDropRequest) {
		return
	}
	m := t.plugin.machine
	d := w.between(fastest, usual)
	if w.strikes(CloudDelay) {
		d = w.between(usual, slowestLanding)
	}
	f := &flight{t.plugin}
	w.flights = append(w.flights, f)
	w.clock.AfterFunc(d, func() {
		w.flights = without(w.flights, f)
		if m.apart {
			w.count(CloudPartition)
			return
		}
		a, refusal := w.land(t, c)
		w.toCloud(m, func() { answer(a, refusal) })
	})
}

func without(list []*flight, f *flight) []*flight {
	for i, x := range list {
		if x == f {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// orphaned says whether a request is on its way whose sender is dead.
func (w *World) orphaned() bool {
	for _, f := range w.flights {
		if !f.plugin.alive {
			return true
		}
	}
	return false
}

// land is the arrival of a write.
func (w *World) land(t *task, c simcloud.Call) (simcloud.Accepted, *arm.Error) {
	trouble := func(status int, code arm.Code) *arm.Error {
		w.logf("cloud", "%s %s: %d", c.CorrelationID, c.RequestID, status)
		return &arm.Error{HTTPStatus: status, Code: code, Message: "made to happen", Target: c.Path}
	}
	switch {
	case w.strikes(CloudThrottle):
		return simcloud.Accepted{}, trouble(http.StatusTooManyRequests, arm.CodeTooManyRequests)
	case w.strikes(CloudErrorBefore):
		return simcloud.Accepted{}, trouble(http.StatusInternalServerError, arm.CodeInternal)
	case w.strikes(CloudConflict):
		return simcloud.Accepted{}, trouble(http.StatusConflict, "Conflict")
	}
	if w.strikes(CloudSlow) {
		w.inject(simcloud.Fault{ObjectID: c.Path, Latency: w.between(10*time.Second, 2*time.Minute)})
	} else if w.strikes(CloudFail) {
		w.inject(simcloud.Fault{ObjectID: c.Path, FailAfter: w.between(time.Second, 10*time.Second)})
	}
	a, refusal := w.judge.landed(t, c)
	w.cloud.ClearFaults()
	if w.strikes(CloudDuplicate) {
		w.judge.landed(t, c) // its answer finds nobody
	}
	if refusal == nil && w.strikes(CloudErrorAfter) {
		return simcloud.Accepted{}, trouble(http.StatusInternalServerError, arm.CodeInternal)
	}
	return a, refusal
}

func (w *World) inject(f simcloud.Fault) {
	if err := w.cloud.Inject(f); err != nil {
		w.fail("inject: %v", err)
	}
}
