// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package client is an HTTP client of the simulated cloud. It sends one write
// at a time, follows the asynchronous operation to its end, and reports errors
// of the cloud as [arm.Error] values.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Defaults of a Config.
const (
	DefaultPollInterval    = 50 * time.Millisecond
	DefaultThrottleRetries = 10
)

const (
	// requestTimeout bounds one HTTP exchange; operations are polled, so none is long.
	requestTimeout = 30 * time.Second
	// maxAnswer bounds an answer, in bytes.
	maxAnswer = 16 << 20
	// maxRetryAfter bounds how long a Retry-After of the cloud is honoured.
	maxRetryAfter = 30 * time.Second
)

// Config says how to reach the cloud and how patient to be.
type Config struct {
	// Endpoint is http://host:port, https://host:port or unix:///path.
	Endpoint  string
	Actor     string
	Token     string
	UserAgent string
	// CorrelationID ties the calls of this client together in the activity log.
	CorrelationID string
	// Session is sent for the activity log, empty for none.
	Session string
	// PollInterval is the time between two polls of an operation; 0 means
	// DefaultPollInterval.
	PollInterval time.Duration
	// ConflictRetries is how often a write refused because another one is in
	// flight is sent again.
	ConflictRetries int
	// ThrottleRetries is how often a throttled write is sent again after the time
	// the cloud asks for; 0 means DefaultThrottleRetries, negative none.
	ThrottleRetries int
}

// Client talks to one cloud as one actor. It is safe for concurrent use.
type Client struct {
	cfg  Config
	base string
	http *http.Client
}

// New makes a client. It does not connect.
func New(cfg Config) (*Client, error) {
	if cfg.PollInterval == 0 {
		cfg.PollInterval = DefaultPollInterval
	}
	if cfg.ThrottleRetries == 0 {
		cfg.ThrottleRetries = DefaultThrottleRetries
	}
	if cfg.PollInterval < 0 || cfg.ConflictRetries < 0 {
		return nil, fmt.Errorf("poll interval %v and retries %d must not be negative", cfg.PollInterval, cfg.ConflictRetries)
	}
	u, err := url.Parse(cfg.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}
	c := &Client{cfg: cfg, http: &http.Client{Transport: transport, Timeout: requestTimeout, CheckRedirect: noRedirect}}
	switch {
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		c.base = u.Scheme + "://" + u.Host
	case u.Scheme == "unix" && u.Path != "":
		c.base = "http://simcloud"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", u.Path)
		}
	default:
		return nil, fmt.Errorf("endpoint %q is none of http://host:port, https://host:port, unix:///path", cfg.Endpoint)
	}
	return c, nil
}

// noRedirect keeps the token from following a redirect to another host.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close releases idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Get reads one resource.
func (c *Client) Get(ctx context.Context, id arm.ID) (arm.Resource, error) {
	var r arm.Resource
	_, err := c.exchange(ctx, http.MethodGet, id.String(), "", nil, &r)
	return r, err
}

// List reads the resources at a collection path, for example
// parent id + "/subnets".
func (c *Client) List(ctx context.Context, path string) ([]arm.Resource, error) {
	var list arm.ResourceList
	_, err := c.exchange(ctx, http.MethodGet, path, "", nil, &list)
	return list.Value, err
}

// Put writes a resource, waits until the operation has ended and returns the
// resource as it then is. ifMatch is a change token or empty. An error after
// acceptance is an *OperationError.
func (c *Client) Put(ctx context.Context, id arm.ID, r arm.Resource, ifMatch string) (arm.Resource, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return arm.Resource{}, fmt.Errorf("encode %s: %w", id, err)
	}
	started, err := c.write(ctx, http.MethodPut, id, ifMatch, body)
	if err != nil {
		return arm.Resource{}, err
	}
	if err := c.await(ctx, started); err != nil {
		return started.resource, err
	}
	after, err := c.Get(ctx, id)
	if err != nil {
		return started.resource, &OperationError{OperationID: started.number(), Object: id.String(), Err: err}
	}
	return after, nil
}

// Delete removes a resource and waits until it is gone. Deleting what is not
// there is no error.
func (c *Client) Delete(ctx context.Context, id arm.ID, ifMatch string) error {
	started, err := c.write(ctx, http.MethodDelete, id, ifMatch, nil)
	if IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.await(ctx, started)
}

// IsNotFound reports whether the cloud said that the object, its group or its
// parent is not there.
func IsNotFound(err error) bool {
	var e *arm.Error
	return errors.As(err, &e) && e.HTTPStatus == http.StatusNotFound
}

// exchange sends one request and decodes its answer into out.
func (c *Client) exchange(ctx context.Context, method, path, ifMatch string, body []byte, out any) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	c.decorate(req, ifMatch)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("%s %s: read answer: %w", method, path, err)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return nil, decodeError(resp, answer, path)
	}
	if len(answer) == 0 || out == nil {
		return resp.Header, nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return nil, fmt.Errorf("%s %s: decode answer: %w", method, path, err)
	}
	return resp.Header, nil
}

func (c *Client) decorate(req *http.Request, ifMatch string) {
	set := func(name, value string) {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	set("User-Agent", c.cfg.UserAgent)
	set(arm.HeaderActor, c.cfg.Actor)
	set(arm.HeaderCorrelationID, c.cfg.CorrelationID)
	set(arm.HeaderSession, c.cfg.Session)
	set("If-Match", ifMatch)
	if c.cfg.Token != "" {
		set("Authorization", "Bearer "+c.cfg.Token)
	}
	if req.Method != http.MethodGet {
		set(arm.HeaderRequestID, newRequestID())
		set("Content-Type", "application/json")
	}
}

// decodeError turns an answer that is no success into an *arm.Error.
func decodeError(resp *http.Response, answer []byte, path string) error {
	var body arm.ErrorBody
	if err := json.Unmarshal(answer, &body); err != nil || body.Error.Code == "" {
		body.Error.Code = arm.Code(strings.ReplaceAll(http.StatusText(resp.StatusCode), " ", ""))
		body.Error.Message = "the answer carries no error body"
	}
	e := &arm.Error{HTTPStatus: resp.StatusCode, Code: body.Error.Code, Message: body.Error.Message, Target: body.Error.Target}
	if e.Target == "" {
		e.Target = path
	}
	if len(body.Error.Details) > 0 {
		e.Blocking = body.Error.Details[0].Target
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	return e
}
