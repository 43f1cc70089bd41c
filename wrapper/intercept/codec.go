// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// frame is one message as it came off the wire. Forwarding it unread keeps
// fields that this program has never heard of.
type frame struct{ data []byte }

// codec passes frames through and encodes everything else as Protocol
// Buffers, so that the proxy's own answers can use it too.
type codec struct{}

var _ encoding.CodecV2 = codec{}

// forceCodec makes an outgoing call use the codec.
func forceCodec() grpc.CallOption { return grpc.ForceCodecV2(codec{}) }

// Name is "proto", because it becomes part of the content type that the peers
// expect.
func (codec) Name() string { return "proto" }

// Marshal returns the bytes of a frame as they are.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	switch v := v.(type) {
	case *frame:
		return mem.BufferSlice{mem.SliceBuffer(v.data)}, nil
	case proto.Message:
		data, err := proto.Marshal(v)
		if err != nil {
			return nil, err
		}
		return mem.BufferSlice{mem.SliceBuffer(data)}, nil
	default:
		return nil, fmt.Errorf("cannot encode %T", v)
	}
}

// Unmarshal copies the bytes: gRPC reuses its buffers when it returns.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	switch v := v.(type) {
	case *frame:
		v.data = data.Materialize()
		return nil
	case proto.Message:
		return proto.Unmarshal(data.Materialize(), v)
	default:
		return fmt.Errorf("cannot decode into %T", v)
	}
}
