// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// How a session ended.
const (
	closed  = "closed"
	expired = "expired"
	died    = "died"
)

func (d *decision) openSession(c OpenSession) error {
	x, i := c.Session, c.Intent
	if x.Policy == "" {
		x.Policy = Queue
	}
	i.Session = x.ID
	switch {
	case x.ID == "" || i.ID == "":
		return fmt.Errorf("%w: a session needs an id and an intent", ErrMalformed)
	case x.Lease <= 0:
		return fmt.Errorf("%w: session %s has no lease", ErrMalformed, x.ID)
	case x.Policy != Queue && x.Policy != Reject:
		return fmt.Errorf("%w: policy %q", ErrMalformed, x.Policy)
	case d.sessions.Get(x.ID) != nil:
		return fmt.Errorf("session %s: %w", x.ID, ErrDuplicate)
	}
	if _, ok := d.intents.Find(i.ID); ok {
		return fmt.Errorf("intent %s: %w", i.ID, ErrDuplicate)
	}
	x.OpenedAt, x.Expires = d.at, d.at+x.Lease
	x.EndedAt, x.Ended = 0, ""
	x.Labels = maps.Clone(x.Labels)
	i.Links = slices.Clone(i.Links)
	d.emit(SessionOpened{Session: x, Intent: i})
	return nil
}

// renew also revives a session whose lease ran out unnoticed: nothing of it
// was given away yet.
func (d *decision) renew(c Renew) error {
	x := d.sessions.Get(c.Session)
	if x == nil || x.EndedAt != 0 {
		return fmt.Errorf("session %s: %w", c.Session, ErrNoSession)
	}
	d.emit(LeaseRenewed{Session: c.Session, Expires: d.at + x.Lease, Phase: c.Phase})
	return nil
}

func (d *decision) addIntent(c AddIntent) error {
	i := c.Intent
	if !d.alive(i.Session, d.at) {
		return fmt.Errorf("session %s: %w", i.Session, ErrNoSession)
	}
	if i.ID == "" {
		return fmt.Errorf("%w: an intent needs an id", ErrMalformed)
	}
	if _, ok := d.intents.Find(i.ID); ok {
		return fmt.Errorf("intent %s: %w", i.ID, ErrDuplicate)
	}
	i.Links = slices.Clone(i.Links)
	d.emit(IntentAdded{Intent: i})
	return nil
}

func (d *decision) closeSession(c CloseSession) error {
	x := d.sessions.Get(c.Session)
	switch {
	case x == nil, x.Ended == expired, x.Ended == died:
		return fmt.Errorf("session %s: %w", c.Session, ErrNoSession)
	case x.Ended == closed:
		return nil
	}
	d.end(c.Session, closed)
	d.drain()
	return nil
}

func (d *decision) expire() error {
	var over []SessionID
	for id, x := range d.sessions.All {
		if x.EndedAt == 0 && x.Expires <= d.at {
			over = append(over, id)
		}
	}
	slices.SortFunc(over, cmp.Compare)
	for _, id := range over {
		d.end(id, expired)
	}
	if len(over) > 0 {
		d.drain()
	}
	return nil
}

// deceased records that nothing can be sent any more in the name of a session.
// That alone settles no call; it is what makes a read of the cloud prove
// something.
func (d *decision) deceased(c Deceased) error {
	x := d.sessions.Get(c.Session)
	switch {
	case x == nil:
		return fmt.Errorf("session %s: %w", c.Session, ErrNoSession)
	case x.DeadAt != 0:
		return nil
	}
	d.emit(SenderDied{Session: c.Session, At: d.at})
	if x.EndedAt == 0 {
		d.end(c.Session, died)
		d.drain()
	}
	return nil
}

// end takes a session's transactions back as far as that is safe: a call that
// may be running keeps its locks, whatever the clock says (invariant I18).
// Claims end when it is known which of their calls were sent.
func (d *decision) end(id SessionID, how string) {
	cause := "session " + how
	active := d.active(id)
	for _, e := range active {
		if e.Status == Actioning {
			d.emit(TxUncertain{Tx: e.ID, At: d.at, Cause: cause})
		}
	}
	for _, e := range active {
		if e.Action == Reserve && e.Status == Admitted {
			d.dissolve(e.ID)
		}
	}
	for _, e := range active {
		if e.Status == Queued || e.Status == Admitted {
			d.emit(TxEnded{Tx: e.ID, At: d.at, Status: Withdrawn, Cause: cause})
		}
	}
	d.emit(SessionEnded{Session: id, At: d.at, How: how})
}

// placeable are the declarations among decls that are new, or what is wrong
// with them.
func (s *State) placeable(decls []graph.Decl) ([]graph.Decl, error) {
	fresh, err := s.graph.Check(decls)
	if err != nil {
		return nil, shapeError(err)
	}
	return fresh, nil
}

func (d *decision) place(fresh []graph.Decl) {
	if len(fresh) > 0 {
		d.emit(NodesPlaced{Nodes: fresh})
	}
}

func names(decls []graph.Decl) map[graph.NodeID]bool {
	m := make(map[graph.NodeID]bool, len(decls))
	for _, d := range decls {
		m[d.ID] = true
	}
	return m
}
