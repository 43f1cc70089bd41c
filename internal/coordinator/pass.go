// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"context"
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// Pass lets one of the session's own transactions, which waits or was refused,
// go on without its locks. Said twice, it gives the same decision.
func (c *Coordinator) Pass(ctx context.Context, session admission.SessionID, id admission.TxID, pass admission.Pass) (Decision, error) {
	var answer Decision
	err := c.do(ctx, &op{
		command: func(st *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
			if err := owned(st, session, id); err != nil {
				return nil, err
			}
			if err := lives(st, session); err != nil {
				return nil, err
			}
			tx, _ := st.Tx(id)
			if tx.Passed != nil && tx.Passed.Mode == pass.Mode {
				return nil, nil
			}
			if tx.Status == admission.Admitted {
				return nil, nil // it may go on anyway
			}
			pass.Stamp, pass.Tx = stamp, id
			return pass, nil
		},
		after: func(*admission.State) (err error) {
			answer, err = c.realm.decision(id)
			if err == nil && answer.Waits() {
				err = fmt.Errorf("transaction %s: %w", id, admission.ErrStatus)
			}
			return err
		},
	})
	return answer, err
}
