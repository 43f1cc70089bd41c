// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// maxBody bounds a request body, in bytes.
const maxBody = 1 << 20

// maxHeaderValue bounds each header value that goes into the activity log, in bytes.
const maxHeaderValue = 256

// operationsPath is the middle of the URL of an operation.
const operationsPath = "/providers/Microsoft.Network/locations/simulated/operations/"

// Handler serves the API of the cloud.
//
//	GET, PUT, DELETE  /subscriptions/{s}/resourceGroups/{g}[/providers/{namespace}/...]
//	GET, PUT, DELETE  /subscriptions/{s}/providers/{namespace}/...
//	GET               a collection path, such as .../virtualNetworks
//	GET               the URL in the Azure-AsyncOperation header of a write
//	*                 /admin/..., if the cloud has an admin token
//	GET               /healthz
func (c *Cloud) Handler() http.Handler {
	mux := http.NewServeMux()
	// The cloud ignores case also in the first segment, which a pattern does not.
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); !strings.EqualFold(first, "subscriptions") {
			http.NotFound(w, r)
			return
		}
		c.serveResource(w, r)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	if c.admin != nil {
		mux.Handle("/admin/", c.adminHandler())
	}
	return mux
}

func (c *Cloud) serveResource(w http.ResponseWriter, r *http.Request) {
	call := Call{
		Method: r.Method, Path: bounded(r.URL.Path, 2048),
		IfMatch:       r.Header.Get("If-Match"),
		UserAgent:     bounded(r.UserAgent(), maxHeaderValue),
		CorrelationID: bounded(r.Header.Get(arm.HeaderCorrelationID), maxHeaderValue),
		RequestID:     bounded(r.Header.Get(arm.HeaderRequestID), maxHeaderValue),
		Session:       bounded(r.Header.Get(arm.HeaderSession), maxHeaderValue),
		Received:      c.clock.Now(),
	}
	actor, refusal := c.authenticate(r)
	call.Actor = bounded(actor, maxHeaderValue)
	if call.RequestID != "" {
		w.Header().Set(arm.HeaderRequestID, call.RequestID)
	}
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case refusal != nil && !read:
		writeError(w, c.Refuse(call, refusal))
	case refusal != nil:
		writeError(w, refusal)
	case read:
		c.serveRead(w, r, call)
	default:
		c.serveWrite(w, r, call)
	}
}

func bounded(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "")
	}
	return s
}

func (c *Cloud) serveRead(w http.ResponseWriter, r *http.Request, call Call) {
	if _, number, ok := strings.Cut(r.URL.Path, operationsPath); ok {
		answer(w, func() (any, *arm.Error) { return wrap(c.Operation(number)) })
		return
	}
	if _, err := arm.ParseCollection(call.Path); err == nil {
		answer(w, func() (any, *arm.Error) { return wrap(c.List(call)) })
		return
	}
	answer(w, func() (any, *arm.Error) { return wrap(c.Read(call)) })
}

// wrap turns a typed answer into one that any encoder takes.
func wrap[T any](v T, e *arm.Error) (any, *arm.Error) { return v, e }

func answer(w http.ResponseWriter, f func() (any, *arm.Error)) {
	v, refusal := f()
	if refusal != nil {
		writeError(w, refusal)
		return
	}
	writeJSON(w, http.StatusOK, v)
}

func (c *Cloud) serveWrite(w http.ResponseWriter, r *http.Request, call Call) {
	body, refusal := readBody(w, r)
	if refusal != nil {
		writeError(w, c.Refuse(call, refusal))
		return
	}
	call.Body = body
	met := c.meet(call)
	if met != nil && (met.DropRequest || !c.pause(met.AcceptDelay)) {
		c.dropRequest(w, call, met)
		return
	}
	accepted, refusal := c.write(call, met)
	if refusal != nil {
		writeError(w, refusal)
		return
	}
	if met != nil && (!c.pause(met.AnswerDelay) || met.DropAnswer) {
		hangUp(w)
		return
	}
	if accepted.OperationID != "" {
		w.Header().Set(arm.HeaderAsyncOperation, operationURL(r, accepted.OperationID))
	}
	if accepted.Resource == nil {
		w.WriteHeader(accepted.HTTPStatus)
		return
	}
	writeJSON(w, accepted.HTTPStatus, accepted.Resource)
}

// dropRequest ends a call that the cloud has not looked at. The log has it as
// refused, for it changes nothing, under a code that no caller ever sees.
func (c *Cloud) dropRequest(w http.ResponseWriter, call Call, met *fault) {
	// Nobody is left to be told that the log cannot be written either.
	_ = c.refuseUnseen(call, met, &arm.Error{Code: arm.CodeRequestDropped, Message: "the connection was closed"})
	hangUp(w)
}

// hangUp closes the connection without an answer, as a failing network does.
func hangUp(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		// Such a connection cannot be taken from the server; an answer that says
		// nothing comes nearest.
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	_ = conn.Close() // nobody is left to be told
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *arm.Error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, &arm.Error{HTTPStatus: http.StatusRequestEntityTooLarge, Code: arm.CodeRequestTooLarge, Message: err.Error()}
	case err != nil:
		return nil, badContent(err)
	}
	return body, nil
}

// operationURL is absolute, on the host the caller used.
func operationURL(r *http.Request, number string) string {
	segments := strings.SplitN(r.URL.Path, "/", 4) // "", "subscriptions", id, rest
	return "http://" + r.Host + "/subscriptions/" + segments[2] + operationsPath + number
}

func writeError(w http.ResponseWriter, e *arm.Error) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(e.RetryAfter/time.Second)))
	}
	writeJSON(w, e.HTTPStatus, e.Body())
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The caller may have gone away; there is nobody left to tell.
	_, _ = w.Write(append(body, '\n'))
}
