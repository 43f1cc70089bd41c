// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"cmp"
	"context"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// MaxReport bounds the items of a report; older ones are only counted.
const MaxReport = 1000

// Report is what the coordinator delayed, refused or let pass, as far back as
// transactions are remembered in full.
type Report struct {
	Host  string `json:"host"`
	Store string `json:"store"`
	// Now and Since are nanoseconds since the Unix epoch; Since is the arrival
	// of the oldest transaction that was looked at, 0 for none.
	Now   int64 `json:"now"`
	Since int64 `json:"since"`
	// Transactions is how many were looked at.
	Transactions int `json:"transactions"`
	// Delayed, Refused, WouldWait, WouldRefuse and Passed count the items, the
	// omitted ones too.
	Delayed     int `json:"delayed"`
	Refused     int `json:"refused"`
	WouldWait   int `json:"would_wait"`
	WouldRefuse int `json:"would_refuse"`
	Passed      int `json:"passed"`
	// Unknown and Left count those of which nobody knows how they ended, and the
	// creates that did not end well and whose object is there.
	Unknown int `json:"unknown,omitempty"`
	Left    int `json:"left,omitempty"`
	// Errors counts those of them whose call the provider failed.
	Errors int `json:"errors"`
	// Items are the newest, in the order of their arrival.
	Items   []ReportItem `json:"items"`
	Omitted int          `json:"omitted,omitempty"`
}

// What became of a transaction that something was in the way of.
const (
	// Delayed: it waited for another session.
	Delayed = "delayed"
	// Refused: it was not let through, or it gave up waiting: it was not sent.
	Refused = "refused"
	// WouldWait and WouldRefuse: it went on without its locks, and would
	// otherwise have waited or been refused.
	WouldWait   = "would_wait"
	WouldRefuse = "would_refuse"
	// Passed: it went on without its locks, and the reasons are not remembered.
	Passed = "passed"
	// Unknown: it was sent, and nobody knows how it ended. Left: a create that
	// failed, or whose answer was lost, and the object is there; no state may have
	// it.
	Unknown = "unknown"
	Left    = "left"
)

// WaitedTooLong is the cause with which a session withdraws a transaction that
// waited for as long as the session allows.
const WaitedTooLong = "waited too long"

// ReportItem is one transaction of a report.
type ReportItem struct {
	Tx admission.TxID `json:"tx"`
	// What is one of the constants above.
	What string `json:"what"`
	// Address and Type are Terraform's.
	Address string           `json:"address"`
	Type    string           `json:"type"`
	Action  admission.Action `json:"action"`
	Status  admission.Status `json:"status"`
	// Cause is a word about the end, where there is one.
	Cause   string      `json:"cause,omitempty"`
	By      ReportParty `json:"by"`
	Reasons []Reported  `json:"reasons"`
	// Passed is set when the call went on without its locks.
	Passed *admission.Pass `json:"passed,omitempty"`
	// Times are nanoseconds since the Unix epoch, 0 when not reached; Waited is
	// nanoseconds.
	SubmittedAt int64 `json:"submitted_at"`
	EndedAt     int64 `json:"ended_at,omitempty"`
	Waited      int64 `json:"waited"`
	// ProviderError: the call was sent and the provider answered with an error.
	ProviderError bool `json:"provider_error"`
}

// ReportParty is who a session is, and what it acts for.
type ReportParty struct {
	Session   admission.SessionID `json:"session"`
	Actor     string              `json:"actor"`
	Objective string              `json:"objective"`
	RunURL    string              `json:"run_url,omitempty"`
	// State identifies the Terraform state.
	State string `json:"state,omitempty"`
}

// Reported is one reason with whom it is due to; Holder is nil where nobody
// stands behind it.
type Reported struct {
	admission.Blocker
	// Type and Address are of the object in the way, as far as known.
	Type    string       `json:"type,omitempty"`
	Address string       `json:"address,omitempty"`
	By      *ReportParty `json:"by,omitempty"`
}

// Report lists what was delayed, refused or passed.
func (c *Coordinator) Report(ctx context.Context) (Report, error) {
	r := Report{Host: c.config.Host, Store: c.config.Store, Items: []ReportItem{}}
	err := c.ask(ctx, func(st *admission.State) error {
		r.Now = c.realm.now()
		txs := st.Transactions()
		slices.SortStableFunc(txs, func(a, b admission.Tx) int { return cmp.Compare(a.SubmittedAt, b.SubmittedAt) })
		last := lastWords(txs)
		for i := range txs {
			r.add(st, &txs[i], last[asking(&txs[i])] == i)
		}
		if over := len(r.Items) - MaxReport; over > 0 {
			r.Items, r.Omitted = slices.Clone(r.Items[over:]), over
		}
		for i := range r.Items {
			r.Items[i].explain(st)
		}
		return nil
	})
	return r, err
}

// asked is what a session asks for, however often.
type asked struct {
	session admission.SessionID
	action  admission.Action
	address string
	self    graph.NodeID
	call    admission.CallID
}

func asking(tx *admission.Tx) asked {
	return asked{tx.Session, tx.Action, tx.Address, tx.Self, tx.Call}
}

// lastWords are the positions at which each thing was asked for last.
func lastWords(txs []admission.Tx) map[asked]int {
	last := make(map[asked]int, len(txs))
	for i := range txs {
		last[asking(&txs[i])] = i
	}
	return last
}

// add looks at one transaction. A refusal that is not the last word was looked
// at again, on newer knowledge: what became of that counts, once.
func (r *Report) add(st *admission.State, tx *admission.Tx, last bool) {
	if tx.Status == admission.Rejected && !last {
		return
	}
	if r.Transactions++; r.Since == 0 {
		r.Since = tx.SubmittedAt
	}
	what, why := fate(st, tx)
	switch what {
	case Delayed:
		r.Delayed++
	case Refused:
		r.Refused++
	case WouldWait:
		r.WouldWait++
	case WouldRefuse:
		r.WouldRefuse++
	case Passed:
		r.Passed++
	case Unknown:
		r.Unknown++
	case Left:
		r.Left++
	default:
		return
	}
	item := ReportItem{
		Tx: tx.ID, What: what, Address: tx.Address, Type: tx.Type, Action: tx.Action, Status: tx.Status, Cause: tx.Cause,
		Passed: tx.Passed, SubmittedAt: tx.SubmittedAt, EndedAt: tx.EndedAt, Waited: waited(tx, r.Now),
		ProviderError: providerError(tx), Reasons: make([]Reported, 0, len(why)),
		By: party(st, tx.Session, tx.Intent),
	}
	if item.ProviderError {
		r.Errors++
	}
	for _, b := range why {
		item.Reasons = append(item.Reasons, Reported{Blocker: b})
	}
	r.Items = append(r.Items, item)
}

// fate is what became of a transaction, and the reasons; empty where nothing
// was in its way.
func fate(st *admission.State, tx *admission.Tx) (string, []admission.Blocker) {
	switch {
	case tx.Status == admission.Rejected:
		return Refused, tx.Blockers
	case tx.Status == admission.Withdrawn && tx.Cause == WaitedTooLong:
		return Refused, tx.Delayed
	case tx.Passed != nil:
		return passed(st, tx)
	case tx.Status == admission.Uncertain:
		return Unknown, tx.Delayed
	case leaves(tx):
		return Left, tx.Delayed
	case len(tx.Delayed) > 0:
		return Delayed, tx.Delayed
	default:
		return "", nil
	}
}

// leaves says whether a create left an object behind that no answer told of.
func leaves(tx *admission.Tx) bool {
	settled := tx.By != "" || tx.Cause != ""
	return tx.Action == admission.Create && tx.StartedAt != 0 && tx.Status.Final() && tx.Exists &&
		(tx.Status == admission.Failed || settled)
}

func passed(st *admission.State, tx *admission.Tx) (string, []admission.Blocker) {
	switch {
	case len(tx.Blockers) == 0 && len(tx.Delayed) > 0:
		return WouldWait, tx.Delayed
	case len(tx.Blockers) == 0:
		return Passed, nil
	case refuses(st, tx):
		return WouldRefuse, tx.Blockers
	default:
		return WouldWait, tx.Blockers
	}
}

// refuses says whether what was in the way of a transaction that passed would
// have refused it.
func refuses(st *admission.State, tx *admission.Tx) bool {
	x, _ := st.Session(tx.Session)
	for _, b := range tx.Blockers {
		awaited := b.Guard == admission.Present && b.Holder != "" // somebody is making it
		switch {
		case b.Exceeded, b.Dead, b.Capacity != nil && b.Capacity.Hopeless:
			return true
		case b.Guard != "" && !awaited && b.Fact != "declared":
			return true
		case x.Policy == admission.Reject && b.HolderSession != "" && b.HolderSession != tx.Session:
			return true
		}
	}
	return false
}

// providerError says whether the call was sent and answered with an error. A
// call that was settled otherwise has a cause.
func providerError(tx *admission.Tx) bool {
	return tx.Status == admission.Failed && tx.StartedAt != 0 && tx.Cause == "" && tx.By == ""
}

// waited is for how long a transaction was in the queue.
func waited(tx *admission.Tx, now int64) int64 {
	until := cmp.Or(tx.AdmittedAt, tx.EndedAt, now)
	return max(0, until-tx.SubmittedAt)
}

func party(st *admission.State, session admission.SessionID, intent admission.IntentID) ReportParty {
	x, _ := st.Session(session)
	tx := admission.Tx{Request: admission.Request{Session: session, Intent: intent}}
	return ReportParty{
		Session: session, Actor: x.Actor, Objective: objective(st, &tx), RunURL: x.RunURL, State: x.Origin,
	}
}

// explain looks up what the reasons name.
func (i *ReportItem) explain(st *admission.State) {
	for n := range i.Reasons {
		r := &i.Reasons[n]
		if r.HolderSession != "" {
			p := party(st, r.HolderSession, r.HolderIntent)
			r.By = &p
		}
		id := r.Node
		if owner, _, ok := graph.OwnerOfFacet(id); ok {
			id = owner
		}
		if node, ok := st.Graph().Get(id); ok {
			r.Type, r.Address = node.Type, node.Address
		}
	}
}
