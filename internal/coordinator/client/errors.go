// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// explain turns an error of the API into the one that the coordinator meant.
func (c *Client) explain(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	st, ok := status.FromError(err)
	if !ok {
		return err
	}
	if meant := reason(st); meant != nil {
		switch {
		case errors.Is(meant, coordinator.ErrUnavailable):
			return fmt.Errorf("%w at %s: %s", ErrUnreachable, c.target, plain(st.Message()))
		case errors.Is(meant, admission.ErrNoSession):
			return fmt.Errorf("%w: %w", ErrSessionEnded, meant)
		case errors.Is(meant, admission.ErrUnsettled):
			return unsettled(st)
		case errors.Is(meant, coordinator.ErrProtocol):
			return fmt.Errorf("%w: %s", ErrProtocol, st.Message())
		case errors.Is(meant, coordinator.ErrToken):
			return fmt.Errorf("%w by %s: get the coordinator's token from whoever runs it", ErrTokenRefused, c.target)
		default:
			return &remoteError{text: st.Message(), meant: meant}
		}
	}
	switch st.Code() {
	case codes.Canceled, codes.DeadlineExceeded:
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w at %s: %s", ErrUnreachable, c.target, plain(st.Message()))
	case codes.Unauthenticated:
		return fmt.Errorf("%w by %s: get the coordinator's token from whoever runs it", ErrTokenRefused, c.target)
	case codes.Unavailable:
		return fmt.Errorf("%w at %s: %s", ErrUnreachable, c.target, plain(st.Message()))
	default:
		return fmt.Errorf("the coordinator at %s: %s", c.target, st.Message())
	}
}

// plain is what a message of the transport says, without the layers that it was
// wrapped into on its way.
func plain(message string) string {
	if _, inner, ok := strings.Cut(message, `desc = "`); ok {
		message = strings.TrimSuffix(inner, `"`)
	}
	if i := strings.LastIndex(message, "transport: "); i >= 0 {
		message = message[i+len("transport: "):]
	}
	return strings.TrimPrefix(message, "Error while dialing: ")
}

// remoteError is an error of the coordinator in its own words.
type remoteError struct {
	text  string
	meant error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.meant }

// reason is the error that the details of a status name; nil when none is.
func reason(st *status.Status) error {
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == coordinator.ErrorDomain {
			return coordinator.FromReason(info.GetReason())
		}
	}
	return nil
}

const (
	firstPause = 20 * time.Millisecond
	maxPause   = 500 * time.Millisecond
)

// retry repeats f while the coordinator cannot be reached, until ctx ends; after
// patience it gives up with ErrLost. f must be safe to repeat.
func retry(ctx context.Context, patience time.Duration, f func() error) error {
	return repeat(ctx, patience, f, func(err error) error { return fmt.Errorf("%w: %w", ErrLost, err) })
}

// insist is retry for those who have no session yet: they have nothing to lose,
// and after patience the error stays what it is.
func insist(ctx context.Context, patience time.Duration, f func() error) error {
	return repeat(ctx, patience, f, func(err error) error { return fmt.Errorf("%w (tried for %s)", err, patience) })
}

// repeat calls f while the coordinator cannot be reached, until ctx ends. What
// it returns after patience is for over to say.
func repeat(ctx context.Context, patience time.Duration, f func() error, over func(error) error) error {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := f()
		if !errors.Is(err, ErrUnreachable) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-limit.C:
			return over(err)
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}
