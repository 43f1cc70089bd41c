// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"encoding/json"
	"fmt"
	"os"
)

// ReattachEnv is the environment variable by which the CLI is told of
// providers that already run.
const ReattachEnv = "TF_REATTACH_PROVIDERS"

// reattachment is the form in which the CLI reads one provider of
// TF_REATTACH_PROVIDERS.
type reattachment struct {
	Protocol        string
	ProtocolVersion int
	Pid             int
	// Test is what makes the CLI heed ProtocolVersion, and what keeps it from
	// killing Pid when it is done.
	Test bool
	Addr reattachAddr
}

type reattachAddr struct{ Network, String string }

// Reattach returns the value of TF_REATTACH_PROVIDERS for all providers of the
// host.
//
// The connections made through it carry no TLS, since no certificate can be
// exchanged this way: whatever passes, secrets included, is protected by the
// private folder of the sockets alone.
func (h *Host) Reattach() (string, error) {
	entries := map[string]reattachment{}
	for _, p := range h.providers {
		entries[p.source] = reattachment{
			Protocol: "grpc", ProtocolVersion: p.protocol, Pid: os.Getpid(), Test: true,
			Addr: reattachAddr{Network: "unix", String: p.listener.Addr().String()},
		}
	}
	value, err := json.Marshal(entries)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", ReattachEnv, err)
	}
	return string(value), nil
}

// ReattachSources returns the provider source addresses that a value of
// TF_REATTACH_PROVIDERS names. An empty value names none.
func ReattachSources(value string) ([]string, error) {
	entries, err := parseReattach(value)
	if err != nil {
		return nil, err
	}
	sources := make([]string, 0, len(entries))
	for source := range entries {
		sources = append(sources, source)
	}
	return sources, nil
}

// MergeReattach adds the entries of ours to a value that the user had set,
// usually to debug a provider. The user's entries win and are passed on as
// they are: such a provider is not intercepted.
func MergeReattach(ours, users string) (string, error) {
	merged, err := parseReattach(ours)
	if err != nil {
		return "", err
	}
	theirs, err := parseReattach(users)
	if err != nil {
		return "", err
	}
	for source, entry := range theirs {
		merged[source] = entry
	}
	value, err := json.Marshal(merged)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", ReattachEnv, err)
	}
	return string(value), nil
}

func parseReattach(value string) (map[string]json.RawMessage, error) {
	entries := map[string]json.RawMessage{}
	if value == "" {
		return entries, nil
	}
	if err := json.Unmarshal([]byte(value), &entries); err != nil {
		return nil, fmt.Errorf("%s is not a JSON object: %w", ReattachEnv, err)
	}
	if entries == nil {
		entries = map[string]json.RawMessage{}
	}
	return entries, nil
}
