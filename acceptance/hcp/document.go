// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package hcp

import (
	"encoding/json"
	"io"
	"net/http"
)

// mediaType is that of JSON:API documents.
const mediaType = "application/vnd.api+json"

// maxBody bounds what is read of a request, in bytes.
const maxBody = 64 << 20

// resource is an object of a JSON:API document.
type resource struct {
	ID            string         `json:"id"`
	Type          string         `json:"type"`
	Attributes    map[string]any `json:"attributes,omitempty"`
	Relationships map[string]any `json:"relationships,omitempty"`
}

// answer sends a document with one resource, or a list of them.
func answer(w http.ResponseWriter, code int, data any) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

// refuse sends an error document.
func refuse(w http.ResponseWriter, code int, title string) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": []map[string]any{{"status": http.StatusText(code), "title": title}}})
}

// attributes reads the attributes of a request's document.
func attributes(r *http.Request, into any) error {
	var document struct {
		Data struct {
			Attributes json.RawMessage `json:"attributes"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, maxBody)).Decode(&document); err != nil {
		return err
	}
	if len(document.Data.Attributes) == 0 {
		return nil
	}
	return json.Unmarshal(document.Data.Attributes, into)
}

// to is a relationship to one resource.
func to(kind, id string) map[string]any {
	return map[string]any{"data": map[string]string{"type": kind, "id": id}}
}
