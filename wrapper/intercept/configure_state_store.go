// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import "context"

// configureStateStore gives the connection a process of its own: which state
// store is configured is kept in the process beside the provider's own
// configuration, so that it cannot be shared.
func (x *exchange) configureStateStore(ctx context.Context, request *frame) (*frame, error) {
	if err := x.conn.seat.Dedicate(); err != nil {
		return nil, err
	}
	lease, err := x.lease(ctx)
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	lease.Pin()
	answer, err := x.invoke(ctx, lease, request)
	if err != nil {
		x.fault(lease, err)
	}
	return answer, err
}
