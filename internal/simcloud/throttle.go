// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"net/http"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// bucket is the token bucket of one actor.
type bucket struct {
	tokens float64
	at     time.Time
}

// checkThrottle takes a token of the caller's bucket, or says when there will
// be one.
func (c *Cloud) checkThrottle(ch *change) *arm.Error {
	if c.throttleNext > 0 {
		c.throttleNext--
		return throttled(time.Second)
	}
	rate := c.cfg.WritesPerSecond
	if rate == 0 {
		return nil
	}
	size := max(rate, 1)
	b, ok := c.buckets[ch.call.Actor]
	if !ok {
		b = &bucket{tokens: size, at: ch.now}
		c.buckets[ch.call.Actor] = b
	}
	b.tokens = min(size, b.tokens+rate*ch.now.Sub(b.at).Seconds())
	b.at = ch.now
	if b.tokens < 1 {
		return throttled(time.Duration((1 - b.tokens) / rate * float64(time.Second)))
	}
	b.tokens--
	return nil
}

// throttled rounds the wait up to the whole seconds that Retry-After can say.
func throttled(wait time.Duration) *arm.Error {
	seconds := max((wait+time.Second-1)/time.Second, 1)
	return &arm.Error{
		HTTPStatus: http.StatusTooManyRequests, Code: arm.CodeTooManyRequests,
		Message: "too many writes by this actor", RetryAfter: seconds * time.Second,
	}
}
