// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import "context"

// maxObserved bounds the messages that are decoded only to be watched, in
// bytes. Decoding costs about 25 ms per megabyte; changes are decoded whatever
// their size.
const maxObserved = 32 << 20

// observe tells the watcher what an answer shows, before the answer is passed
// on: what the CLI does next may depend on it, and then the watcher has seen
// it. What cannot be decoded is logged and passed on all the same.
func (x *exchange) observe(request, answer *frame, what string, tell func() error) {
	p := x.conn.provider
	if p.host.watcher == nil {
		return
	}
	if size := len(request.data) + len(answer.data); size > maxObserved {
		p.host.log.Warn("provider answer is too large to be observed", "provider", p.source, "rpc", what, "bytes", size)
		return
	}
	if err := tell(); err != nil {
		p.host.log.Warn("provider answer not observed", "provider", p.source, "rpc", what, "error", err)
	}
}

// pair decodes a request and its answer. skip is true when the answer carries
// an error or was put off, so that its values mean nothing.
func (x *exchange) pair(name string, request, answer *frame) (req, resp message, skip bool, err error) {
	pkg := x.conn.provider.pkg
	if req, err = parse(pkg, name+".Request", request); err != nil {
		return message{}, message{}, false, err
	}
	if resp, err = parse(pkg, name+".Response", answer); err != nil {
		return message{}, message{}, false, err
	}
	_, deferred := resp.sub("deferred")
	return req, resp, deferred || resp.failed(), nil
}

// resourceSchema returns the schema of the resource type that a request names.
func (x *exchange) resourceSchema(ctx context.Context, request message) (string, *Schema, error) {
	name := request.text("type_name")
	schema, err := x.conn.provider.schemas.resource(ctx, name)
	return name, schema, err
}
