// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"context"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// errInput: a field of a request cannot be read or exceeds its limit.
var errInput = errors.New("invalid request")

// code is the status code of an error.
func code(err error) codes.Code {
	switch {
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded
	case errors.Is(err, coordinator.ErrUnavailable):
		return codes.Unavailable
	case errors.Is(err, coordinator.ErrCredential):
		return codes.Unauthenticated
	case errors.Is(err, coordinator.ErrForeign), errors.Is(err, admission.ErrToken):
		return codes.PermissionDenied
	case errors.Is(err, coordinator.ErrSlow):
		return codes.ResourceExhausted
	case errors.Is(err, admission.ErrNoTx):
		return codes.NotFound
	case errors.Is(err, admission.ErrDuplicate):
		return codes.AlreadyExists
	case errors.Is(err, admission.ErrNoSession), errors.Is(err, admission.ErrStatus):
		return codes.FailedPrecondition
	case errors.Is(err, errInput), errors.Is(err, admission.ErrMalformed), errors.Is(err, admission.ErrMisplaced),
		errors.Is(err, admission.ErrKeyReused), errors.Is(err, admission.ErrUndeclared):
		return codes.InvalidArgument
	default:
		return codes.Internal
	}
}

// toStatus gives an error its code, and the reason that clients decide on.
func toStatus(err error) error {
	if err == nil {
		return nil
	}
	st := status.New(code(err), err.Error())
	if reason := coordinator.Reason(err); reason != "" {
		detailed, detailErr := st.WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: coordinator.ErrorDomain})
		if detailErr == nil {
			st = detailed
		}
	}
	return st.Err()
}
