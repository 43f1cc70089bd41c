// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// adminHandler serves the switches of the cloud to the holder of the admin token.
//
//	POST /admin/reset
//	PUT  /admin/supersede      {"enabled": true}
//	PUT  /admin/latency        {"subnet": "1s", "subnet.delete": "2s"}
//	PUT  /admin/quota          {"north": 20, "north/standardBSFamily": 4}
//	POST /admin/throttle-next  {"count": 3}
//	POST /admin/fail-next      {"object_id": "...", "code": "...", "message": "..."}
//	POST /admin/fault          a fault, see ParseFault; armed behind the others
//	DELETE /admin/faults       disarm all faults
//	GET  /admin/status         {"in_flight": 2, "delayed": 0}
//	GET  /admin/log            the kept activity log as JSON Lines
func (c *Cloud) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /admin/reset", func(w http.ResponseWriter, _ *http.Request) {
		c.Reset()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("PUT /admin/supersede", adminCall(func(in struct{ Enabled bool }) error {
		c.SetSupersede(in.Enabled)
		return nil
	}))
	mux.HandleFunc("PUT /admin/latency", adminCall(c.setLatencies))
	mux.HandleFunc("PUT /admin/quota", adminCall(c.setQuotas))
	mux.HandleFunc("POST /admin/throttle-next", adminCall(func(in struct{ Count int }) error {
		c.ThrottleNext(in.Count)
		return nil
	}))
	mux.HandleFunc("POST /admin/fail-next", adminCall(c.failNextCall))
	mux.HandleFunc("POST /admin/fault", adminCall(func(in json.RawMessage) error {
		f, err := ParseFault(in)
		if err != nil {
			return err
		}
		return c.Inject(f)
	}))
	mux.HandleFunc("DELETE /admin/faults", func(w http.ResponseWriter, _ *http.Request) {
		c.ClearFaults()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /admin/status", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, status{InFlight: c.InFlight(), Delayed: c.Delayed()})
	})
	mux.HandleFunc("GET /admin/log", c.serveLog)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !c.isAdmin(r) {
			writeError(w, &arm.Error{HTTPStatus: http.StatusUnauthorized, Code: arm.CodeUnauthenticated, Message: "the admin token is missing or wrong"})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// adminCall decodes a JSON body into T and calls f with it.
func adminCall[T any](f func(T) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, refusal := readBody(w, r)
		if refusal != nil {
			writeError(w, refusal)
			return
		}
		var in T
		err := json.Unmarshal(body, &in)
		if err == nil {
			err = f(in)
		}
		if err != nil {
			writeError(w, badContent(err))
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func (c *Cloud) setLatencies(in map[string]string) error {
	parsed := make(map[string]time.Duration, len(in))
	for key, text := range in {
		d, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		if err := checkLatency(key, d); err != nil {
			return err
		}
		parsed[key] = d
	}
	for key, d := range parsed {
		if err := c.SetLatency(key, d); err != nil {
			return err
		}
	}
	return nil
}

// setQuotas changes all of them or, if one is wrong, none.
func (c *Cloud) setQuotas(in map[string]int) error {
	parsed, err := parseQuotas(in)
	if err != nil {
		return err
	}
	for key, limit := range parsed {
		if err := c.SetQuota(key, limit); err != nil {
			return err
		}
	}
	return nil
}

// status says what goes on in the cloud.
type status struct {
	InFlight int `json:"in_flight"` // operations that have not ended
	Delayed  int `json:"delayed"`   // calls and answers that faults keep waiting
}

type failNextRequest struct {
	ObjectID string   `json:"object_id"`
	Code     arm.Code `json:"code"`
	Message  string   `json:"message"`
}

func (c *Cloud) failNextCall(in failNextRequest) error {
	id, err := arm.ParseID(in.ObjectID)
	if err != nil {
		return err
	}
	c.FailNext(id, in.Code, in.Message)
	return nil
}

func (c *Cloud) serveLog(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/jsonl")
	out := activity.NewWriter(w)
	for _, e := range c.Events() {
		if out.Append(e) != nil {
			return // the caller has gone away
		}
	}
}
