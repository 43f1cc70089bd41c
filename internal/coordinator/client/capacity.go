// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"encoding/json"
	"fmt"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
)

// Measure reports what was read about buckets of capacity, where the reading
// began after the record began. An older reading than the last is ignored.
func (s *Session) Measure(ctx context.Context, began uint64, readings []admission.Reading) error {
	data, err := json.Marshal(readings)
	if err != nil {
		return fmt.Errorf("write the readings: %w", err)
	}
	return s.call(ctx, func(ctx context.Context) error {
		_, err := s.client.api.Measure(ctx, &weaverv1.MeasureRequest{Began: began, Readings: data})
		return err
	})
}

// Buckets says how buckets stand and who holds what of them, in the order of
// keys; without keys, all that are known. A bucket that nobody has read or
// reserved yet is returned with nothing known.
func (s *Session) Buckets(ctx context.Context, keys ...escrow.Key) ([]coordinator.BucketStatus, error) {
	in := &weaverv1.BucketsRequest{}
	for _, k := range keys {
		in.Keys = append(in.Keys, string(k))
	}
	var out *weaverv1.BucketsResponse
	err := s.call(ctx, func(ctx context.Context) (err error) {
		out, err = s.client.api.Buckets(ctx, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	return readAll[coordinator.BucketStatus]("a bucket", out.GetBuckets())
}
