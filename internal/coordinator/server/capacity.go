// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"context"
	"encoding/json"
	"fmt"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
)

const (
	// maxBuckets bounds the buckets of one call.
	maxBuckets = 10000
	// maxKey bounds the key of a bucket in bytes.
	maxKey = 2048
)

// Measure takes over what the caller read about buckets.
func (s *Server) Measure(ctx context.Context, in *weaverv1.MeasureRequest) (*weaverv1.MeasureResponse, error) {
	id, err := s.session(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	read := admission.Measure{Session: id, Began: in.GetBegan()}
	if err := readJSON("readings", in.GetReadings(), &read.Readings); err != nil {
		return nil, toStatus(err)
	}
	keys := make([]string, 0, len(read.Readings))
	for _, r := range read.Readings {
		keys = append(keys, string(r.Bucket))
	}
	if err := limit(keys, maxBuckets, maxKey); err != nil {
		return nil, toStatus(err)
	}
	if len(read.Readings) == 0 {
		return &weaverv1.MeasureResponse{}, nil
	}
	if err := s.c.Measure(ctx, read); err != nil {
		return nil, toStatus(err)
	}
	return &weaverv1.MeasureResponse{}, nil
}

// Buckets says how buckets stand.
func (s *Server) Buckets(ctx context.Context, in *weaverv1.BucketsRequest) (*weaverv1.BucketsResponse, error) {
	if _, err := s.session(ctx); err != nil {
		return nil, toStatus(err)
	}
	if err := limit(in.GetKeys(), maxBuckets, maxKey); err != nil {
		return nil, toStatus(err)
	}
	keys := make([]escrow.Key, 0, len(in.GetKeys()))
	for _, k := range in.GetKeys() {
		keys = append(keys, escrow.Key(k))
	}
	list, err := s.c.Buckets(ctx, keys)
	if err != nil {
		return nil, toStatus(err)
	}
	out := &weaverv1.BucketsResponse{}
	for _, b := range list {
		data, err := json.Marshal(b)
		if err != nil {
			return nil, toStatus(fmt.Errorf("write a bucket: %w", err))
		}
		out.Buckets = append(out.Buckets, data)
	}
	return out, nil
}
