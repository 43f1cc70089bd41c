// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

const (
	// pollFailures is how many polls in a row may fail before the outcome of an
	// operation is given up as unknown.
	pollFailures = 5
	// firstBackoff and maxBackoff bound the waits between retries of a conflict.
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 5 * time.Second
)

// OperationError is an error after the cloud had accepted a write: the
// operation failed or was canceled (Err is an *arm.Error without HTTP status), or
// its outcome could not be learned (any other Err).
type OperationError struct {
	OperationID string
	Object      string
	Err         error
}

// Error names the operation and the object.
func (e *OperationError) Error() string {
	return fmt.Sprintf("operation %s on %s was accepted, then: %v", e.OperationID, e.Object, e.Err)
}

// Unwrap is the reason.
func (e *OperationError) Unwrap() error { return e.Err }

// Ended reports whether the operation is known to have ended.
func (e *OperationError) Ended() bool {
	var reason *arm.Error
	return errors.As(e.Err, &reason) && reason.HTTPStatus == 0
}

// accepted is a write that the cloud has taken.
type accepted struct {
	id       arm.ID
	poll     string // path to poll, empty when nothing was started
	resource arm.Resource
}

func (a accepted) number() string {
	for i := len(a.poll) - 1; i >= 0; i-- {
		if a.poll[i] == '/' {
			return a.poll[i+1:]
		}
	}
	return a.poll
}

// newRequestID is a random id for one call.
func newRequestID() string { return rand.Text() }

// write sends a PUT or DELETE until it is accepted or finally refused.
func (c *Client) write(ctx context.Context, method string, id arm.ID, ifMatch string, body []byte) (accepted, error) {
	conflicts, throttles := 0, 0
	for {
		a := accepted{id: id}
		header, err := c.exchange(ctx, method, id.String(), ifMatch, body, &a.resource)
		if err == nil {
			a.poll, err = pollPath(header)
			return a, err
		}
		wait, again := c.retry(err, &conflicts, &throttles)
		if !again {
			return a, err
		}
		if !sleep(ctx, wait) {
			return a, fmt.Errorf("%w while waiting to send again after: %w", ctx.Err(), err)
		}
	}
}

// pollPath is the path of the operation URL. Only the path is used, so an answer
// cannot send the token to another host.
func pollPath(header http.Header) (string, error) {
	text := header.Get(arm.HeaderAsyncOperation)
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("operation URL: %w", err)
	}
	return u.Path, nil
}

// retry says whether and when to send a refused write again.
func (c *Client) retry(err error, conflicts, throttles *int) (time.Duration, bool) {
	var e *arm.Error
	if !errors.As(err, &e) {
		return 0, false
	}
	switch {
	case e.HTTPStatus == http.StatusTooManyRequests && *throttles < c.cfg.ThrottleRetries:
		*throttles++
		return max(e.RetryAfter, firstBackoff), true
	case inFlight(e.Code) && *conflicts < c.cfg.ConflictRetries:
		*conflicts++
		return min(firstBackoff<<min(*conflicts-1, 10), maxBackoff), true
	}
	return 0, false
}

// inFlight reports whether a code says that another write is in flight.
func inFlight(code arm.Code) bool {
	switch code {
	case arm.CodeAnotherOperationInProgress, arm.CodeConcurrentModification, arm.CodeResourceConflict:
		return true
	}
	return false
}

// await polls until the operation has ended.
func (c *Client) await(ctx context.Context, a accepted) error {
	if a.poll == "" {
		return nil
	}
	unknown := func(err error) error {
		return &OperationError{OperationID: a.number(), Object: a.id.String(), Err: err}
	}
	for failures := 0; ; {
		if !sleep(ctx, c.cfg.PollInterval) {
			return unknown(ctx.Err())
		}
		var status arm.OperationStatus
		_, err := c.exchange(ctx, http.MethodGet, a.poll, "", nil, &status)
		if err != nil {
			var definite *arm.Error
			if failures++; failures >= pollFailures || errors.As(err, &definite) && definite.HTTPStatus < http.StatusInternalServerError {
				return unknown(fmt.Errorf("poll: %w", err))
			}
			continue
		}
		failures = 0
		switch status.Status {
		case arm.OperationInProgress:
		case arm.OperationSucceeded:
			return nil
		default:
			return unknown(outcome(status, a.id))
		}
	}
}

// outcome is the error of an operation that ended without success.
func outcome(status arm.OperationStatus, id arm.ID) error {
	e := &arm.Error{Code: arm.Code(status.Status), Message: "the operation ended as " + status.Status, Target: id.String()}
	if status.Error != nil {
		e.Code, e.Message = status.Error.Code, status.Error.Message
	}
	return e
}

// sleep waits and reports false if the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
