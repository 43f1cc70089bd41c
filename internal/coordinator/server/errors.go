// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"context"
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

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
	case errors.Is(err, coordinator.ErrCredential), errors.Is(err, coordinator.ErrToken):
		return codes.Unauthenticated
	case errors.Is(err, coordinator.ErrForeign), errors.Is(err, admission.ErrToken):
		return codes.PermissionDenied
	case errors.Is(err, coordinator.ErrSlow):
		return codes.ResourceExhausted
	case errors.Is(err, admission.ErrNoTx):
		return codes.NotFound
	case errors.Is(err, admission.ErrDuplicate):
		return codes.AlreadyExists
	case errors.Is(err, admission.ErrNoSession), errors.Is(err, admission.ErrStatus), errors.Is(err, admission.ErrUnsettled),
		errors.Is(err, coordinator.ErrProtocol):
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
	return toStatusAt(err, func(int64) time.Duration { return 0 })
}

// toStatusAt is toStatus for errors that name a time; left is how long it is
// until then.
func toStatusAt(err error, left func(at int64) time.Duration) error {
	if err == nil {
		return nil
	}
	st := status.New(code(err), err.Error())
	details := details(err, left)
	if len(details) == 0 {
		return st.Err()
	}
	if detailed, detailErr := st.WithDetails(details...); detailErr == nil {
		st = detailed
	}
	return st.Err()
}

func details(err error, left func(at int64) time.Duration) []protoadapt.MessageV1 {
	reason := coordinator.Reason(err)
	if reason == "" {
		return nil
	}
	info := &errdetails.ErrorInfo{Reason: reason, Domain: coordinator.ErrorDomain}
	list := []protoadapt.MessageV1{info}
	var unsettled *admission.UnsettledError
	if errors.As(err, &unsettled) {
		info.Metadata = map[string]string{coordinator.DetailBecause: unsettled.Reason}
		if unsettled.Earliest != 0 {
			list = append(list, &errdetails.RetryInfo{RetryDelay: durationpb.New(max(0, left(unsettled.Earliest)))})
		}
	}
	return list
}
