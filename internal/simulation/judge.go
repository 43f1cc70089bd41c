// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// judge compares what happens with what must not happen. It knows what calls
// were meant to do, what the cloud says was done, and what is durable; it never
// asks which locks are held.
type judge struct {
	w *World
	// log receives the cloud's activity log.
	log bytes.Buffer
	// calls are those that were forwarded, by transaction.
	calls map[string]*call
	// own are the operations in flight or ended, by number, with the transaction.
	own map[string]string
	// spans are the replaces that have begun.
	spans []*span
	// writing counts the operations in flight by object.
	writing map[string]string
}

func newJudge(w *World) *judge {
	return &judge{w: w, calls: map[string]*call{}, own: map[string]string{}, writing: map[string]string{}}
}

// forwarded judges that a call leaves its wrapper: only after its start is on
// record (I9).
func (j *judge) forwarded(k *call) {
	j.calls[string(k.tx)] = k
	tx, ok := j.w.ledger.state.Tx(k.tx)
	switch {
	case !ok || tx.StartedAt == 0:
		j.w.fail("%s (%s) was sent and its start is not on record", k.tx, k.id)
	case tx.Token != k.token:
		j.w.fail("%s (%s) was sent under token %d, which is not its own (%d)", k.tx, k.id, k.token, tx.Token)
	}
}

// sent judges that a request leaves a plugin: nobody may believe that it is dead
// (I25).
func (j *judge) sent(t *task) {
	if x, ok := j.w.ledger.state.Session(t.run.session); ok && x.DeadAt != 0 {
		j.w.fail("%s (%s) sends after its session was found dead", t.tx, t.id)
	}
}

// leads judges a leader that has just begun: nobody could renew while nobody led.
func (j *judge) leads(s *server) {
	for _, x := range s.state.Sessions() {
		if x.EndedAt == 0 && x.Expires-s.state.Now() < x.Lease*9/10 {
			j.w.fail("%s leads epoch %d and leaves %s %v of its lease", s.name, s.epoch, x.ID, time.Duration(x.Expires-s.state.Now()))
		}
	}
}

// landed gives a write to the cloud and judges the answer.
func (j *judge) landed(t *task, c simcloud.Call) (simcloud.Accepted, *arm.Error) {
	a, refusal := j.w.cloud.Write(c)
	if refusal == nil {
		if tx, ok := j.w.ledger.state.Tx(t.tx); ok && tx.Status.Final() && a.OperationID != "" {
			j.w.fail("%s (%s) has an effect after it is %s", t.tx, t.id, tx.Status)
		}
		j.own[a.OperationID] = string(t.tx)
	} else {
		j.refused(t, refusal)
	}
	j.read()
	return a, refusal
}

// refused judges a refusal of the cloud: no coordinated call may meet one, but for
// what is in its own way.
func (j *judge) refused(t *task, refusal *arm.Error) {
	j.w.logf("cloud", "%s %s refused: %s", t.tx, t.id, refusal.Code)
	switch {
	case refusal.HTTPStatus == http.StatusTooManyRequests:
	case refusal.Blocking != "" && j.own[refusal.Blocking] == string(t.tx):
		j.w.refusals["own operation in flight"]++
	case j.repeated(t):
		j.w.refusals["repeated"]++
	case j.unwatched(t, refusal):
		j.w.refusals["capacity unknown"]++
	default:
		j.w.fail("the cloud refuses %s (%s): %v (blocked by %s of %s)", t.tx, t.id, refusal, refusal.Blocking, j.own[refusal.Blocking])
	}
}

// repeated says whether an earlier request of the same call has taken effect, so
// that this one finds what that one left.
func (j *judge) repeated(t *task) bool {
	for _, tx := range j.own {
		if tx == string(t.tx) {
			return true
		}
	}
	return false
}

// unwatched says whether a refusal for want of capacity is about a bucket of
// which nothing was known when the call was admitted: nothing is refused then.
func (j *judge) unwatched(t *task, refusal *arm.Error) bool {
	switch refusal.Code {
	case arm.CodeSubnetIsFull, arm.CodeDiskMaxSharesExceeded, arm.CodeOperationNotAllowed:
	default:
		return false
	}
	tx, _ := j.w.ledger.state.Tx(t.tx)
	for _, e := range t.request.Effects {
		at, ok := j.w.ledger.read[e.Bucket]
		if e.Amount > 0 && (!ok || at > tx.StartedIndex || tx.Plan != "" && at > j.reservedAt(tx.Plan)) {
			return true
		}
	}
	return false
}

// reservedAt is the ticket-giving record of a reservation.
func (j *judge) reservedAt(id admission.TxID) uint64 {
	tx, _ := j.w.ledger.state.Tx(id)
	var index uint64
	_, _ = fmt.Sscanf(string(tx.ID), "t%d", &index)
	return index
}

// read judges what the activity log has got since the last time.
func (j *judge) read() {
	for {
		line, err := j.log.ReadBytes('\n')
		if err != nil {
			j.log.Write(line)
			return
		}
		var e activity.Event
		if err := json.Unmarshal(line, &e); err != nil {
			j.w.fail("activity log: %v", err)
			return
		}
		if e.CorrelationID != "" {
			j.event(e)
		}
	}
}

// event judges one event of the activity log.
func (j *judge) event(e activity.Event) {
	if e.Status != activity.Refused {
		j.w.logf("cloud", "%s %s: %s %s", e.CorrelationID, e.RequestID, e.Status, e.ErrorCode)
	}
	k := j.calls[e.CorrelationID]
	object := strings.ToLower(e.ObjectID)
	switch e.Status {
	case activity.Accepted:
		j.accepted(e, k, object)
	case activity.Succeeded, activity.Failed, activity.Canceled:
		if j.writing[object] == e.OperationID {
			delete(j.writing, object)
		}
		if e.Status == activity.Canceled {
			j.w.fail("an operation of %s (%s) was undone by another one: %s", k.tx, k.id, e.ErrorCode)
		}
	}
}

func (j *judge) accepted(e activity.Event, k *call, object string) {
	if other := j.writing[object]; other != "" {
		j.w.fail("two writes of %s at once: %s and %s", e.ObjectID, e.OperationID, other)
	}
	j.writing[object] = e.OperationID
	j.own[e.OperationID] = e.CorrelationID
	j.life(e, k)
	j.inside(k)
	if k.group != "" && k.action == admission.Delete {
		j.spans = append(j.spans, &span{first: k})
	}
}

// life judges that a call meets the life of the object that its plan was made
// on (I20).
func (j *judge) life(e activity.Event, k *call) {
	if k.thing.typ == association || j.again(e) {
		return
	}
	switch k.action {
	case admission.Update, admission.Delete:
		if k.uid != "" && e.UID != k.uid {
			j.w.fail("%s (%s) was planned on the life %s of the object and changed %s", k.tx, k.id, k.uid, e.UID)
		}
	}
}

// again says whether an event is about a request that was sent before.
func (j *judge) again(e activity.Event) bool {
	n := 0
	for number, tx := range j.own {
		if tx == e.CorrelationID && number != e.OperationID {
			n++
		}
	}
	return n > 0
}

// answered judges an answer: what it says must be durable.
func (j *judge) answered(s *server, r request, back reply) {
	if back.err != nil || r.promise == nil {
		return
	}
	if wrong := r.promise(j.w.ledger, back.value); wrong != "" {
		j.w.fail("%s answered %q in epoch %d: %s", s.name, r.name, s.epoch, wrong)
	}
}
