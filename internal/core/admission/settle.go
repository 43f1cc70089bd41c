// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import "fmt"

// UnsettledError says why a read did not settle a call, and when one may.
type UnsettledError struct {
	Tx TxID
	// Reason is a sentence without its full stop.
	Reason string
	// Earliest is when a read may begin that settles the call, in nanoseconds
	// since the Unix epoch; 0 when that depends on what is read.
	Earliest int64
}

// Error names the transaction and the reason.
func (e *UnsettledError) Error() string {
	return fmt.Sprintf("transaction %s: %s: %s", e.Tx, ErrUnsettled, e.Reason)
}

// Unwrap is ErrUnsettled.
func (e *UnsettledError) Unwrap() error { return ErrUnsettled }
