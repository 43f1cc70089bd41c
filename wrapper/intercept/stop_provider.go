// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import "context"

// stopProvider ends the waiting admissions of the connection first, and then
// passes the request on to the processes that work for it. None is started for
// the sake of being stopped.
func (x *exchange) stopProvider(ctx context.Context, request *frame) (*frame, error) {
	p := x.conn.provider
	x.conn.stop(errStopped)
	if p.host.watcher != nil {
		p.host.watcher.Stopping(ctx, p.source)
	}
	// An empty message is the answer "stopped" of both protocol versions.
	answer := &frame{}
	for _, instance := range x.conn.seat.Running() {
		given := &frame{}
		err := instance.Conn().Invoke(outgoing(ctx), x.method, request, given, forceCodec())
		if err != nil {
			return nil, err
		}
		answer = given
	}
	return answer, nil
}
