// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"context"
	"fmt"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// Opened is a new session.
type Opened struct {
	Session admission.SessionID
	Intent  admission.IntentID
	// Credential proves that a caller is the session. It is a secret.
	Credential string
}

// OpenSession begins a session with its first intent. The id of the intent is
// chosen here when it is empty. A live session with the same LabelOpening is the
// same one: its answer was lost.
func (c *Coordinator) OpenSession(ctx context.Context, session admission.Session, intent admission.Intent) (Opened, error) {
	err := c.do(ctx, &op{
		command: func(st *admission.State, stamp admission.Stamp, next uint64) (admission.Command, error) {
			if had, ok := opened(st, session.Labels[LabelOpening]); ok {
				first, _ := st.FirstIntent(had)
				session.ID, intent.ID = had, first.ID
				return admission.Renew{Stamp: stamp, Session: had}, nil
			}
			session.ID = sessionID(session.Actor, next)
			intent.Session = session.ID
			if intent.ID == "" {
				intent.ID = intentID(session.ID, next)
			}
			return admission.OpenSession{Stamp: stamp, Session: session, Intent: intent}, nil
		},
	})
	if err != nil {
		return Opened{}, err
	}
	return Opened{Session: session.ID, Intent: intent.ID, Credential: c.credential(session.ID)}, nil
}

// opened is the live session of an opening.
func opened(st *admission.State, opening string) (admission.SessionID, bool) {
	if opening == "" {
		return "", false
	}
	for _, s := range st.Sessions() {
		if s.EndedAt == 0 && s.Labels[LabelOpening] == opening {
			return s.ID, true
		}
	}
	return "", false
}

// Renew is a sign of life. It returns how long the lease lasts from now; an
// empty phase leaves the phase as it is.
func (c *Coordinator) Renew(ctx context.Context, id admission.SessionID, phase string) (time.Duration, error) {
	var left time.Duration
	err := c.do(ctx, &op{
		command: func(_ *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
			return admission.Renew{Stamp: stamp, Session: id, Phase: phase}, nil
		},
		after: func(st *admission.State) error {
			s, ok := st.Session(id)
			if !ok || s.EndedAt != 0 {
				return fmt.Errorf("session %s: %w", id, admission.ErrNoSession)
			}
			left = time.Duration(s.Expires - c.now().UnixNano())
			return nil
		},
	})
	return left, err
}

// CloseSession ends a session and says how many others were open during it.
func (c *Coordinator) CloseSession(ctx context.Context, id admission.SessionID) (int, error) {
	peers := 0
	err := c.do(ctx, &op{
		command: func(_ *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
			peers = c.realm.peers.of(id)
			return admission.CloseSession{Stamp: stamp, Session: id}, nil
		},
	})
	if err != nil {
		return 0, err
	}
	return peers, nil
}

// AddIntent gives the session another intent; its id is chosen here when it is
// empty.
func (c *Coordinator) AddIntent(ctx context.Context, id admission.SessionID, intent admission.Intent) (admission.IntentID, error) {
	err := c.do(ctx, &op{
		command: func(_ *admission.State, stamp admission.Stamp, next uint64) (admission.Command, error) {
			intent.Session = id
			if intent.ID == "" {
				intent.ID = intentID(id, next)
			}
			return admission.AddIntent{Stamp: stamp, Intent: intent}, nil
		},
	})
	if err != nil {
		return "", err
	}
	return intent.ID, nil
}
