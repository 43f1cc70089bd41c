// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"errors"
	"fmt"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// The requests of a client, each in the steps of the method of the same name of
// package coordinator.

// opening is the label by which a session that was opened twice is known.
const opening = "opening"

func openSession(x admission.Session, i admission.Intent) request {
	find := func(st *admission.State) (admission.SessionID, bool) {
		for _, s := range st.Sessions() {
			if s.EndedAt == 0 && s.Labels[opening] == x.Labels[opening] {
				return s.ID, true
			}
		}
		return "", false
	}
	return request{
		name: "open",
		command: func(st *admission.State, stamp admission.Stamp, next uint64) (admission.Command, error) {
			if had, ok := find(st); ok {
				return admission.Renew{Stamp: stamp, Session: had}, nil
			}
			x, i := x, i
			x.ID = admission.SessionID(fmt.Sprintf("%s-%d", x.Actor, next))
			i.ID = admission.IntentID(fmt.Sprintf("%s.%d", x.ID, next))
			return admission.OpenSession{Stamp: stamp, Session: x, Intent: i}, nil
		},
		answer: func(st *admission.State, _ *server) (any, error) {
			id, ok := find(st)
			if !ok {
				return nil, fmt.Errorf("%s: %w", x.Actor, admission.ErrNoSession)
			}
			return id, nil
		},
		promise: func(l *ledger, answer any) string {
			if _, ok := l.state.Session(answer.(admission.SessionID)); !ok {
				return "the session is not on record"
			}
			return ""
		},
	}
}

// plain is a request whose answer is only that it was done.
func plain(name string, command func(admission.Stamp) admission.Command) request {
	return request{name: name, command: func(_ *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
		return command(stamp), nil
	}}
}

func renew(id admission.SessionID) request {
	return plain("renew", func(stamp admission.Stamp) admission.Command { return admission.Renew{Stamp: stamp, Session: id} })
}

func closeSession(id admission.SessionID) request {
	r := plain("close", func(stamp admission.Stamp) admission.Command {
		return admission.CloseSession{Stamp: stamp, Session: id}
	})
	r.promise = func(l *ledger, _ any) string {
		if x, ok := l.state.Session(id); ok && x.EndedAt == 0 {
			return "the end of the session is not on record"
		}
		return ""
	}
	return r
}

// moment is a place in the journal with its time.
type moment struct {
	index uint64
	at    int64
}

func whichMoment() request {
	return request{name: "moment", answer: func(st *admission.State, s *server) (any, error) {
		return moment{index: st.Index(), at: max(st.Now(), s.now())}, nil
	}}
}

// found is a node as it is known.
type found struct {
	node    graph.Node
	known   bool
	out, in []graph.Edge
}

func lookup(ids []graph.NodeID) request {
	return request{name: "lookup", answer: func(st *admission.State, _ *server) (any, error) {
		list := make([]found, len(ids))
		for i, id := range ids {
			list[i].node, list[i].known = st.Graph().Get(id)
			list[i].out, list[i].in = st.Graph().Out(id), st.Graph().In(id)
		}
		return list, nil
	}}
}

// decision is what became of a transaction.
type decision struct {
	tx     admission.TxID
	status admission.Status
	token  uint64
}

func decisionOf(st *admission.State, id admission.TxID) (any, error) {
	tx, ok := st.Tx(id)
	if !ok {
		return nil, fmt.Errorf("transaction %s: %w", id, admission.ErrNoTx)
	}
	return decision{tx: tx.ID, status: tx.Status, token: tx.Token}, nil
}

// granted is what must be durable when a client is told of a grant.
func granted(l *ledger, answer any) string {
	d := answer.(decision)
	tx, ok := l.state.Tx(d.tx)
	switch {
	case !ok:
		return "the transaction is not on record"
	case d.status == admission.Admitted && tx.Token != d.token:
		return fmt.Sprintf("the grant of token %d is not on record", d.token)
	}
	return ""
}

// submit asks for admission; id is that of a stale transaction, or empty.
func submit(r admission.Request, id admission.TxID) request {
	return request{
		name: "submit",
		command: func(st *admission.State, stamp admission.Stamp, next uint64) (admission.Command, error) {
			as := id
			if as == "" {
				as = admission.TxID(fmt.Sprintf("t%d", next))
			}
			return admission.Submit{Stamp: stamp, ID: as, Request: r}, nil
		},
		answer: func(st *admission.State, _ *server) (any, error) {
			tx, ok := st.TxByKey(r.Session, r.Key)
			if !ok {
				return nil, fmt.Errorf("key %d: %w", r.Key, admission.ErrNoTx)
			}
			return decisionOf(st, tx.ID)
		},
		promise: granted,
	}
}

func ask(id admission.TxID) request {
	return request{
		name:    "ask",
		answer:  func(st *admission.State, _ *server) (any, error) { return decisionOf(st, id) },
		promise: granted,
	}
}

// start announces that a call is about to be sent. The answer is for how long
// from now on it may be.
func start(session admission.SessionID, id admission.TxID, token uint64) request {
	r := plain("start", func(stamp admission.Stamp) admission.Command {
		return admission.Start{Stamp: stamp, Tx: id, Token: token}
	})
	r.answer = func(st *admission.State, s *server) (any, error) {
		x, ok := st.Session(session)
		if !ok || x.EndedAt != 0 {
			return nil, fmt.Errorf("session %s: %w", session, admission.ErrNoSession)
		}
		return time.Duration(x.Expires - max(st.Now(), s.now())), nil
	}
	r.promise = func(l *ledger, _ any) string {
		if tx, ok := l.state.Tx(id); !ok || tx.StartedAt == 0 {
			return "the start is not on record"
		}
		return ""
	}
	return r
}

func complete(c admission.Complete) request {
	r := plain("complete", func(stamp admission.Stamp) admission.Command {
		c := c
		c.Stamp = stamp
		return c
	})
	r.promise = func(l *ledger, _ any) string {
		tx, ok := l.state.Tx(c.Tx)
		if ok && !tx.Status.Final() && tx.Status != admission.Uncertain {
			return fmt.Sprintf("the outcome is not on record: %s", tx.Status)
		}
		return ""
	}
	return r
}

func withdraw(id admission.TxID, cause string) request {
	return plain("withdraw", func(stamp admission.Stamp) admission.Command {
		return admission.Withdraw{Stamp: stamp, Tx: id, Cause: cause}
	})
}

func settle(read admission.Settle) request {
	return request{name: "settle", command: func(st *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
		tx, ok := st.Tx(read.Tx)
		if ok && tx.Status.Final() && tx.StartedAt != 0 && tx.Exists == read.Exists {
			return nil, nil // somebody was faster, or this is said twice
		}
		read := read
		read.Stamp = stamp
		return read, nil
	}}
}

// unsettled lists the calls with an unknown outcome; those in the way of a
// transaction are among them.
func unsettled() request {
	return request{name: "unsettled", answer: func(st *admission.State, _ *server) (any, error) {
		var list []admission.Tx
		for _, tx := range st.Transactions() {
			if tx.Status == admission.Uncertain {
				list = append(list, tx)
			}
		}
		return list, nil
	}}
}

// gone says whether an error means that the session has ended.
func gone(err error) bool { return errors.Is(err, admission.ErrNoSession) }
