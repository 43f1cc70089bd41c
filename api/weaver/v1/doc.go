// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package weaverv1 is version 1 of the coordinator's gRPC API. The definition
// is weaver.proto; `make generate` makes the code.
package weaverv1
