// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

// ReattachEnv is the environment variable by which the CLI is told of
// providers that already run.
const ReattachEnv = "TF_REATTACH_PROVIDERS"

// ErrReattach is wrapped by every error about a value of TF_REATTACH_PROVIDERS.
var ErrReattach = errors.New("invalid " + ReattachEnv)

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
		entry := reattachment{
			Protocol: "grpc", ProtocolVersion: p.protocol, Pid: os.Getpid(), Test: true,
			Addr: reattachAddr{Network: "unix", String: p.listener.Addr().String()},
		}
		entries[p.source] = entry
		for _, alias := range p.aliases {
			entries[alias] = entry
		}
	}
	value, err := json.Marshal(entries)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", ReattachEnv, err)
	}
	return string(value), nil
}

// ParseReattach reads a value of TF_REATTACH_PROVIDERS that the user had set,
// usually to debug a provider. The keys of the result are as they were written:
// the CLI takes shortened source addresses, too. An empty value names none. The
// error wraps ErrReattach.
//
// SDKs of before 2021 write no ProtocolVersion; what they serve is protocol 5,
// and the CLI takes it for that.
func ParseReattach(value string) (map[string]plugins.Running, error) {
	entries, err := parseReattach(value)
	if err != nil {
		return nil, err
	}
	running := make(map[string]plugins.Running, len(entries))
	for source, text := range entries {
		var entry reattachment
		if err := json.Unmarshal(text, &entry); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrReattach, source, err)
		}
		if running[source], err = entry.running(); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrReattach, source, err)
		}
	}
	return running, nil
}

// running is what an entry says of the process, if it is one to connect to.
func (r reattachment) running() (plugins.Running, error) {
	if r.ProtocolVersion == 0 {
		r.ProtocolVersion = 5
	}
	switch {
	case r.Protocol != "" && r.Protocol != "grpc":
		return plugins.Running{}, fmt.Errorf("it is served by %q; only \"grpc\" is known", r.Protocol)
	case r.ProtocolVersion != 5 && r.ProtocolVersion != 6:
		return plugins.Running{}, fmt.Errorf("it speaks plugin protocol %d; only 5 and 6 are known", r.ProtocolVersion)
	case r.Addr.Network != "unix" && r.Addr.Network != "tcp":
		return plugins.Running{}, fmt.Errorf("its network is %q; only \"unix\" and \"tcp\" are known", r.Addr.Network)
	case r.Addr.String == "":
		return plugins.Running{}, errors.New("it has no address")
	}
	return plugins.Running{
		Network: r.Addr.Network, Address: r.Addr.String, PID: max(r.Pid, 0), Protocol: r.ProtocolVersion,
	}, nil
}

// MergeReattach adds the entries of ours to a value that the user had set. Ours
// win: behind one for a provider of the user's own is that provider, see
// [plugins.Attach].
func MergeReattach(ours, users string) (string, error) {
	merged, err := parseReattach(users)
	if err != nil {
		return "", err
	}
	added, err := parseReattach(ours)
	if err != nil {
		return "", err
	}
	maps.Copy(merged, added)
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
		return nil, fmt.Errorf("%w: it is not a JSON object: %w", ErrReattach, err)
	}
	if entries == nil {
		entries = map[string]json.RawMessage{}
	}
	return entries, nil
}
