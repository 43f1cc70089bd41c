// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"errors"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// ErrorDomain is the domain of the reasons below in the details of an API
// error.
const ErrorDomain = "tfweaver"

// DetailBecause is the key under which the details of the reason UNSETTLED say
// why.
const DetailBecause = "because"

// reasons give errors names that survive the API. The names never change.
func reasons() []struct {
	name string
	err  error
} {
	return []struct {
		name string
		err  error
	}{
		{"NO_SESSION", admission.ErrNoSession},
		{"NO_TRANSACTION", admission.ErrNoTx},
		{"WRONG_TOKEN", admission.ErrToken},
		{"WRONG_STATUS", admission.ErrStatus},
		{"DUPLICATE", admission.ErrDuplicate},
		{"KEY_REUSED", admission.ErrKeyReused},
		{"MISPLACED", admission.ErrMisplaced},
		{"UNDECLARED", admission.ErrUndeclared},
		{"MALFORMED", admission.ErrMalformed},
		{"UNSETTLED", admission.ErrUnsettled},
		{"FOREIGN_TRANSACTION", ErrForeign},
		{"CREDENTIAL", ErrCredential},
		{"TOKEN", ErrToken},
		{"PROTOCOL", ErrProtocol},
		{"SLOW_WATCHER", ErrSlow},
		{"UNAVAILABLE", ErrUnavailable},
		{"BROKEN", ErrBroken},
	}
}

// Reason names an error that callers decide on; empty for any other.
func Reason(err error) string {
	for _, r := range reasons() {
		if errors.Is(err, r.err) {
			return r.name
		}
	}
	return ""
}

// FromReason is the inverse of Reason; nil for an unknown name.
func FromReason(name string) error {
	for _, r := range reasons() {
		if r.name == name {
			return r.err
		}
	}
	return nil
}
