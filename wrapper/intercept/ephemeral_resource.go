// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import "context"

// openEphemeralResource keeps the process of the connection alive until the
// resource is closed: what was opened may live in its memory.
func (x *exchange) openEphemeralResource(ctx context.Context, request *frame) (*frame, error) {
	lease, err := x.lease(ctx)
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	answer, err := x.invoke(ctx, lease, request)
	if err != nil {
		x.fault(lease, err)
		return nil, err
	}
	// An answer that cannot be read may well have opened something.
	m, err := parse(x.conn.provider.pkg, "OpenEphemeralResource.Response", answer)
	if err != nil || !m.failed() {
		lease.Pin()
	}
	return answer, nil
}

// closeEphemeralResource lets the process go again. The CLI closes a resource
// once, whatever the answer.
func (x *exchange) closeEphemeralResource(ctx context.Context, request *frame) (*frame, error) {
	lease, err := x.lease(ctx)
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	defer lease.Unpin()
	answer, err := x.invoke(ctx, lease, request)
	if err != nil {
		x.fault(lease, err)
	}
	return answer, err
}
