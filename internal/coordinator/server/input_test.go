// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/coordinator/liveness"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
)

// TestBounds: nothing of any size is taken from a caller.
func TestBounds(t *testing.T) {
	t.Parallel()
	api := serve(t)
	alice := open(t, api, "alice")
	long := strings.Repeat("x", 5000)
	readings := make([]admission.Reading, 10001)
	for i := range readings {
		readings[i] = admission.Reading{Bucket: escrow.Key("n#q")}
	}
	many, err := json.Marshal(readings)
	if err != nil {
		t.Fatal(err)
	}
	fat, err := json.Marshal([]admission.Reading{{Bucket: escrow.Key(long)}})
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"Settle": func() error {
			_, err := api.Settle(alice, &weaverv1.SettleRequest{Tx: "t1", Digest: long})
			return err
		},
		"Pass": func() error {
			_, err := api.Pass(alice, &weaverv1.PassRequest{Tx: "t1", Mode: "override", By: "a", Reason: long})
			return err
		},
		"Pass in no mode": func() error { _, err := api.Pass(alice, &weaverv1.PassRequest{Tx: "t1"}); return err },
		"Measure": func() error {
			_, err := api.Measure(alice, &weaverv1.MeasureRequest{Readings: many})
			return err
		},
		"Measure of a long key": func() error {
			_, err := api.Measure(alice, &weaverv1.MeasureRequest{Readings: fat})
			return err
		},
		"Measure of nonsense": func() error {
			_, err := api.Measure(alice, &weaverv1.MeasureRequest{Readings: []byte("{")})
			return err
		},
		"Buckets": func() error {
			_, err := api.Buckets(alice, &weaverv1.BucketsRequest{Keys: []string{long}})
			return err
		},
		"Senders": func() error {
			_, err := api.Senders(alice, &weaverv1.SendersRequest{Processes: make([]*weaverv1.Process, liveness.MaxSenders+1)})
			return err
		},
		"Senders without a number": func() error {
			_, err := api.Senders(alice, &weaverv1.SendersRequest{Processes: []*weaverv1.Process{{Started: "1"}}})
			return err
		},
		"Senders with a long start": func() error {
			_, err := api.Senders(alice, &weaverv1.SendersRequest{Processes: []*weaverv1.Process{{Pid: 1, Started: long}}})
			return err
		},
	} {
		wantCode(t, name, call(), codes.InvalidArgument, "")
	}
}

// TestStrangersHaveNoSession: what acts for a session needs its secret.
func TestStrangersHaveNoSession(t *testing.T) {
	t.Parallel()
	api := serve(t)
	ctx := within(t)
	for name, call := range map[string]func() error{
		"Settle":    func() error { _, err := api.Settle(ctx, &weaverv1.SettleRequest{Tx: "t1"}); return err },
		"Unsettled": func() error { _, err := api.Unsettled(ctx, &weaverv1.UnsettledRequest{Tx: "t1"}); return err },
		"Pass":      func() error { _, err := api.Pass(ctx, &weaverv1.PassRequest{Tx: "t1", Mode: "wait"}); return err },
		"Measure":   func() error { _, err := api.Measure(ctx, &weaverv1.MeasureRequest{}); return err },
		"Moment":    func() error { _, err := api.Moment(ctx, &weaverv1.MomentRequest{}); return err },
		"Buckets":   func() error { _, err := api.Buckets(ctx, &weaverv1.BucketsRequest{}); return err },
		"Senders":   func() error { _, err := api.Senders(ctx, &weaverv1.SendersRequest{}); return err },
	} {
		wantCode(t, name, call(), codes.Unauthenticated, "CREDENTIAL")
	}
}

// TestUnsettledDetails: clients of other languages learn when to read again.
func TestUnsettledDetails(t *testing.T) {
	t.Parallel()
	api := serve(t)
	alice, bob := open(t, api, "alice"), open(t, api, "bob")
	held, err := first(t, alice, api, submitOf(t, coordinatortest.Create("n", "a")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.Start(alice, &weaverv1.StartRequest{Tx: held.GetTx(), Token: held.GetToken()}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Complete(alice, &weaverv1.CompleteRequest{Tx: held.GetTx(), Token: held.GetToken(), Result: "lost"}); err != nil {
		t.Fatal(err)
	}
	m, err := api.Moment(bob, &weaverv1.MomentRequest{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = api.Settle(bob, &weaverv1.SettleRequest{Tx: held.GetTx(), Began: m.GetIndex(), BeganAt: m.GetAt(), Terminal: true})
	wantCode(t, "Settle by absence", err, codes.FailedPrecondition, "UNSETTLED")
	var delay, because string
	for _, d := range status.Convert(err).Details() {
		switch d := d.(type) {
		case *errdetails.RetryInfo:
			delay = d.GetRetryDelay().AsDuration().String()
		case *errdetails.ErrorInfo:
			because = d.GetMetadata()["because"]
		}
	}
	if !strings.HasPrefix(delay, "1h59m") || !strings.Contains(because, "not known whether the process") {
		t.Errorf("read again in %q, because %q", delay, because)
	}
}
