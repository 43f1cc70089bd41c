// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// planResourceChange remembers what a later refusal must give back, and counts.
func (x *exchange) planResourceChange(ctx context.Context, request *frame) (*frame, error) {
	answer, err := x.forward(ctx, request)
	if err != nil {
		return nil, err
	}
	if err := x.notePlan(ctx, request, answer); err != nil {
		x.conn.provider.host.log.Warn("plan not understood", "provider", x.conn.provider.source, "error", err)
	}
	return answer, nil
}

// notePlan decodes no more than is needed: what does not exist yet has nothing to
// be given back, and most runs plan far more than they change.
func (x *exchange) notePlan(ctx context.Context, request, answer *frame) error {
	p := x.conn.provider
	req, err := parse(p.pkg, "PlanResourceChange.Request", request)
	if err != nil {
		return err
	}
	if p.host.watcher != nil {
		p.host.watcher.Planned(ctx, p.source, req.text("type_name"))
	}
	if isNullState(req) {
		return nil
	}
	resp, err := parse(p.pkg, "PlanResourceChange.Response", answer)
	if err != nil {
		return err
	}
	if _, deferred := resp.sub("deferred"); !deferred && !resp.failed() {
		p.plans.remember(req, resp)
	}
	return nil
}

// planMemory remembers the private data and the identity that objects had
// before their change. ApplyResourceChange carries neither, yet an answer
// without them wipes them from the state.
type planMemory struct {
	mu sync.Mutex
	// exact is keyed by the state and the planned private data, which together
	// name one plan; byState by the state alone, for the delete half of a
	// replacement, whose planned private data come from another plan.
	exact, byState map[[sha256.Size]byte]prior
}

// prior is what an object had beside its state.
type prior struct {
	private  []byte
	identity message
}

func newPlanMemory() *planMemory {
	return &planMemory{exact: map[[sha256.Size]byte]prior{}, byState: map[[sha256.Size]byte]prior{}}
}

func (m *planMemory) remember(req, resp message) {
	if isNullState(req) {
		return
	}
	p := prior{private: req.bytes("prior_private")}
	p.identity, _ = req.sub("prior_identity")
	state := stateKey(req)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.exact[planKey(state, resp.bytes("planned_private"))] = p
	m.byState[state] = p
}

// recall returns what the object of an ApplyResourceChange request had.
// Without a matching plan it is what the plan wanted it to get: that is the
// nearest, and for a delete usually the same. What does not exist yet has
// nothing.
func (m *planMemory) recall(req message) prior {
	if isNullState(req) {
		return prior{}
	}
	state := stateKey(req)
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, ok := m.exact[planKey(state, req.bytes("planned_private"))]; ok {
		return p
	}
	if p, ok := m.byState[state]; ok {
		return p
	}
	p := prior{private: req.bytes("planned_private")}
	p.identity, _ = req.sub("planned_identity")
	return p
}

// isNullState reports whether a request is about an object that does not exist
// yet: its prior state is absent, or null in either encoding.
func isNullState(req message) bool {
	state, set := req.sub("prior_state")
	if !set {
		return true
	}
	packed, text := state.bytes("msgpack"), state.bytes("json")
	if len(packed) > 0 {
		return len(packed) == 1 && packed[0] == msgpackNil
	}
	return len(text) == 0 || string(text) == "null"
}

// msgpackNil is the whole encoding of null in msgpack.
const msgpackNil = 0xc0

// stateKey identifies an object by its type and the encoded prior state, which
// the CLI encodes the same way in plan and apply.
func stateKey(req message) [sha256.Size]byte {
	state, _ := req.sub("prior_state")
	parts := [][]byte{[]byte(req.text("type_name"))}
	if state.Message != nil {
		parts = append(parts, state.bytes("msgpack"), state.bytes("json"))
	}
	return hashParts(parts...)
}

func planKey(state [sha256.Size]byte, plannedPrivate []byte) [sha256.Size]byte {
	return hashParts(state[:], plannedPrivate)
}

// hashParts hashes a list so that no two different lists hash alike.
func hashParts(parts ...[]byte) [sha256.Size]byte {
	hash := sha256.New()
	for _, part := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		hash.Write(size[:])
		hash.Write(part)
	}
	return [sha256.Size]byte(hash.Sum(nil))
}
