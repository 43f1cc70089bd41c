// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// staleProxy passes reads on to a cloud and answers every write with 412.
type staleProxy struct {
	url    string
	writes atomic.Int32
}

func newStaleProxy(t *testing.T, d *driver) *staleProxy {
	t.Helper()
	p := &staleProxy{}
	handler := d.cloud.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			handler.ServeHTTP(w, r)
			return
		}
		p.writes.Add(1)
		w.WriteHeader(http.StatusPreconditionFailed)
		_, _ = w.Write([]byte(`{"error":{"code":"PreconditionFailed","message":"stale"}}`))
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// newPollProxy passes everything on to a cloud and calls polled on every poll of
// an operation.
func newPollProxy(t *testing.T, d *driver, polled func()) string {
	t.Helper()
	handler := d.cloud.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/operations/") {
			polled()
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
