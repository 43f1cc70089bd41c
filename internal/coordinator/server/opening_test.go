// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
)

// TestOpeningIsRepeated: whoever repeats an opening gets the session that it
// opened, unless that has ended, and nobody else does.
func TestOpeningIsRepeated(t *testing.T) {
	t.Parallel()
	api := serve(t)
	opened := func(key string, labels map[string]string) *weaverv1.OpenSessionResponse {
		t.Helper()
		ctx := within(t)
		if key != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, server.OpeningKey, key)
		}
		out, err := api.OpenSession(ctx, &weaverv1.OpenSessionRequest{Actor: "alice", Labels: labels, Intent: &weaverv1.Intent{Objective: "test"}})
		if err != nil {
			t.Fatalf("OpenSession: %v", err)
		}
		return out
	}
	key := strings.Repeat("k", server.MinOpening)
	first, again := opened(key, nil), opened(key, nil)
	if again.GetSessionId() != first.GetSessionId() || again.GetSecret() != first.GetSecret() || again.GetIntentId() != first.GetIntentId() {
		t.Errorf("the same opening got %v after %v", again.GetSessionId(), first.GetSessionId())
	}
	seen := map[string]string{first.GetSessionId(): "the first"}
	other := func(name string, out *weaverv1.OpenSessionResponse) {
		t.Helper()
		if had := seen[out.GetSessionId()]; had != "" {
			t.Errorf("%s got the session of %s", name, had)
		}
		seen[out.GetSessionId()] = name
	}
	other("another key", opened(strings.Repeat("x", server.MinOpening), nil))
	other("no key", opened("", nil))
	other("no key again", opened("", nil))
	// Whoever reads the status knows the digest, and no more.
	other("a forged label", opened("", map[string]string{coordinator.LabelOpening: digestOf(t, api, first.GetSessionId())}))
	other("the digest as key", opened(digestOf(t, api, first.GetSessionId()), nil))

	ctx := metadata.AppendToOutgoingContext(within(t), server.MetadataKey, first.GetSecret())
	leave(t, ctx, api) // so that the session is still known when it has ended
	if _, err := api.CloseSession(ctx, &weaverv1.CloseSessionRequest{}); err != nil {
		t.Fatal(err)
	}
	other("the key of a closed session", opened(key, nil))
}

// leave makes an object whose history names the session.
func leave(t *testing.T, ctx context.Context, api weaverv1.CoordinatorClient) {
	t.Helper()
	d, err := first(t, ctx, api, submitOf(t, coordinatortest.Create("n", "a")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.Start(ctx, &weaverv1.StartRequest{Tx: d.GetTx(), Token: d.GetToken()}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Complete(ctx, &weaverv1.CompleteRequest{Tx: d.GetTx(), Token: d.GetToken(), Result: "succeeded", Exists: true}); err != nil {
		t.Fatal(err)
	}
}

// digestOf is what others see of an opening.
func digestOf(t *testing.T, api weaverv1.CoordinatorClient, session string) string {
	t.Helper()
	for _, s := range statusOf(t, api).Sessions {
		if string(s.ID) == session {
			return s.Labels[coordinator.LabelOpening]
		}
	}
	t.Fatalf("no session %s", session)
	return ""
}

// TestGuessableOpening: a short secret would give the session away.
func TestGuessableOpening(t *testing.T) {
	t.Parallel()
	api := serve(t)
	for _, key := range []string{"", strings.Repeat("k", server.MinOpening-1), strings.Repeat("k", 1000)} {
		ctx := metadata.AppendToOutgoingContext(within(t), server.OpeningKey, key)
		_, err := api.OpenSession(ctx, &weaverv1.OpenSessionRequest{Actor: "alice"})
		wantCode(t, "OpenSession with "+key, err, codes.InvalidArgument, "")
	}
}

// TestOtherProtocolIsRefused: a client that has lost its coordinator to one of
// another version is told so by its next call, whichever that is.
func TestOtherProtocolIsRefused(t *testing.T) {
	t.Parallel()
	api := serve(t)
	ctx := open(t, api, "alice")
	for theirs, code := range map[string]codes.Code{"1": codes.OK, "0": codes.FailedPrecondition, "2": codes.FailedPrecondition, "": codes.FailedPrecondition} {
		ctx := metadata.AppendToOutgoingContext(ctx, server.ProtocolKey, theirs)
		_, err := api.Lookup(ctx, &weaverv1.LookupRequest{})
		reason := ""
		if code != codes.OK {
			reason = "PROTOCOL"
		}
		wantCode(t, "Lookup by protocol "+theirs, err, code, reason)
		_, err = api.OpenSession(ctx, &weaverv1.OpenSessionRequest{Actor: "bob", Intent: &weaverv1.Intent{Objective: "test"}})
		wantCode(t, "OpenSession by protocol "+theirs, err, code, reason)
	}
}

func statusOf(t *testing.T, api weaverv1.CoordinatorClient) coordinator.Status {
	t.Helper()
	out, err := api.Status(within(t), &weaverv1.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var st coordinator.Status
	if err := json.Unmarshal(out.GetJson(), &st); err != nil {
		t.Fatal(err)
	}
	return st
}
