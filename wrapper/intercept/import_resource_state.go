// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import "context"

// importResourceState reports every object of the answer.
func (x *exchange) importResourceState(ctx context.Context, request *frame) (*frame, error) {
	answer, err := x.forward(ctx, request)
	if err == nil {
		x.observe(request, answer, "ImportResourceState", func() error { return x.tellImported(ctx, request, answer) })
	}
	return answer, err
}

func (x *exchange) tellImported(ctx context.Context, request, answer *frame) error {
	req, resp, skip, err := x.pair("ImportResourceState", request, answer)
	if err != nil || skip {
		return err
	}
	p := x.conn.provider
	for _, object := range resp.list("imported_resources") {
		// The type of an imported object may differ from the one asked for.
		name, schema, err := x.resourceSchema(ctx, object)
		if err != nil {
			return err
		}
		state, err := object.value("state", schema.Type)
		if err != nil {
			return err
		}
		p.host.watcher.Imported(ctx, p.source, name, req.text("id"), state, x.conn.configuration())
	}
	return nil
}
