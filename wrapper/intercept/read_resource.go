// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import "context"

// readResource reports the state before and after the refresh.
func (x *exchange) readResource(ctx context.Context, request *frame) (*frame, error) {
	answer, err := x.forward(ctx, request)
	if err == nil {
		x.observe(request, answer, "ReadResource", func() error { return x.tellRead(ctx, request, answer) })
	}
	return answer, err
}

func (x *exchange) tellRead(ctx context.Context, request, answer *frame) error {
	req, resp, skip, err := x.pair("ReadResource", request, answer)
	if err != nil || skip {
		return err
	}
	name, schema, err := x.resourceSchema(ctx, req)
	if err != nil {
		return err
	}
	before, err := req.value("current_state", schema.Type)
	if err != nil {
		return err
	}
	after, err := resp.value("new_state", schema.Type)
	if err != nil {
		return err
	}
	p := x.conn.provider
	p.host.watcher.Read(ctx, p.source, name, before, after, x.conn.configuration())
	return nil
}
