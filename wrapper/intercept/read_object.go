// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

// ErrUnclear: what the provider answered tells neither that an object is there
// nor that it is not.
var ErrUnclear = errors.New("the provider's answer does not tell whether the object is there")

// Target is an object to be read.
type Target struct {
	// Provider is the full source address, Config a configuration that it was
	// given in this run. cty.NilVal or a null one stands for the only one.
	Provider string
	Config   cty.Value
	// Type is the resource type and ID what "terraform import" takes.
	Type, ID string
	// NotFound says of an error of the provider that it means nothing but that
	// the object is not there; nil says so of none.
	NotFound func(Diagnostic) bool
}

// Object is what was read.
type Object struct {
	// State is the object as the provider reads it, wholly known, of the
	// resource type's schema; null when it is not there. It may hold secrets.
	State cty.Value
	// Exists says whether it is there.
	Exists bool
}

// ReadError is an error that the provider answered.
type ReadError struct {
	// Call is the method of the plugin protocol: ImportResourceState or
	// ReadResource.
	Call string
	// Diagnostics are the provider's own, warnings included.
	Diagnostics []Diagnostic
}

// Error gives the first of the provider's errors.
func (e *ReadError) Error() string {
	for _, d := range e.Diagnostics {
		if d.Error {
			return fmt.Sprintf("%s: %s: %s", e.Call, d.Summary, d.Detail)
		}
	}
	return e.Call + " failed"
}

// Read reads one object from the cloud with the credentials of this run, as
// "terraform import" would: ImportResourceState, then ReadResource. It needs no
// CLI and leaves no trace in any state.
//
// That an object is not there is only concluded from an answer that says so: a
// state that was read as null, an import without an object, or errors that
// target.NotFound knows all. Everything else is an error: *[ReadError] when the
// provider gave one, ErrUnclear, ErrNotConfigured, ErrConfigurations, one of
// package plugins when its process failed, or the cause of ctx.
//
// Reads run in a process of their own, beside the changes that are under way,
// and take none of their slots. They end when the host is closed.
func (h *Host) Read(ctx context.Context, target Target) (Object, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.closing, func() { cancel(context.Cause(h.closing)) })()
	object, err := h.read(ctx, target)
	if err == nil {
		return object, nil
	}
	// What ended the read tells more than what it died of.
	for _, end := range []context.Context{h.closing, ctx} {
		if end.Err() != nil {
			err = context.Cause(end)
			break
		}
	}
	return Object{}, fmt.Errorf("read %s %q: %w", target.Type, target.ID, err)
}

func (h *Host) read(ctx context.Context, target Target) (Object, error) {
	p := h.provider(target.Provider)
	if p == nil {
		return Object{}, fmt.Errorf("provider %s is not proxied", target.Provider)
	}
	chosen, err := p.configurations.choose(target.Config)
	if err != nil {
		return Object{}, err
	}
	schema, err := p.schemas.resource(ctx, target.Type)
	if err != nil {
		return Object{}, err
	}
	lease, err := p.enter(ctx, chosen)
	if err != nil {
		return Object{}, err
	}
	defer lease.Release()
	r := objectReader{provider: p, target: target, schema: schema, lease: lease}
	object, err := r.read(ctx)
	if err == nil && object.State == cty.NilVal {
		object.State = cty.NullVal(schema.Type)
	}
	return object, err
}

// objectReader is one read under way.
type objectReader struct {
	provider *provider
	target   Target
	schema   *Schema
	lease    *plugins.Lease
}

func (r objectReader) read(ctx context.Context) (Object, error) {
	imported, err := r.importState(ctx)
	if err != nil || imported.Message == nil {
		return Object{}, err
	}
	state, err := r.value(imported, "state")
	if err != nil {
		return Object{}, err
	}
	if state.IsNull() {
		return Object{}, fmt.Errorf("%w: it was imported without a state", ErrUnclear)
	}
	return r.readState(ctx, imported)
}

// importState returns the imported object, an empty message when there is none.
func (r objectReader) importState(ctx context.Context) (message, error) {
	request, err := newMessage(r.provider.pkg, "ImportResourceState.Request")
	if err != nil {
		return message{}, err
	}
	request.setText("type_name", r.target.Type)
	request.setText("id", r.target.ID)
	answer, absent, err := r.call(ctx, "ImportResourceState", request)
	if err != nil || absent {
		return message{}, err
	}
	return r.pick(answer.list("imported_resources"))
}

// pick returns the object that was asked for. An importer may add others of
// other types.
func (r objectReader) pick(objects []message) (message, error) {
	var picked message
	n := 0
	for _, object := range objects {
		if object.text("type_name") == r.target.Type {
			picked = object
			n++
		}
	}
	if n > 1 || n == 0 && len(objects) > 0 {
		return message{}, fmt.Errorf("%w: %d of %d imported objects are of the type", ErrUnclear, n, len(objects))
	}
	return picked, nil
}

// readState reads an imported object. What was imported with it goes along.
func (r objectReader) readState(ctx context.Context, imported message) (Object, error) {
	request, err := newMessage(r.provider.pkg, "ReadResource.Request")
	if err != nil {
		return Object{}, err
	}
	request.setText("type_name", r.target.Type)
	state, _ := imported.sub("state")
	request.setSub("current_state", state)
	request.setBytes("private", imported.bytes("private"))
	if identity, set := imported.sub("identity"); set {
		request.setSub("current_identity", identity)
	}
	answer, absent, err := r.call(ctx, "ReadResource", request)
	if err != nil || absent {
		return Object{}, err
	}
	after, err := r.value(answer, "new_state")
	if err != nil {
		return Object{}, err
	}
	return Object{State: after, Exists: !after.IsNull()}, nil
}

// value decodes a state, which has to be there and wholly known.
func (r objectReader) value(m message, field string) (cty.Value, error) {
	dynamic, set := m.sub(field)
	if !set || len(dynamic.bytes("msgpack"))+len(dynamic.bytes("json")) == 0 {
		return cty.NilVal, fmt.Errorf("%w: it has no state", ErrUnclear)
	}
	state, err := m.value(field, r.schema.Type)
	if err != nil {
		return cty.NilVal, err
	}
	if !state.IsWhollyKnown() {
		return cty.NilVal, fmt.Errorf("%w: its state has unknown values", ErrUnclear)
	}
	return state, nil
}

// call makes one call. absent is true when the provider's errors say that the
// object is not there.
func (r objectReader) call(ctx context.Context, name string, request message) (answer message, absent bool, err error) {
	out, err := request.encode()
	if err != nil {
		return message{}, false, err
	}
	in, method := &frame{}, "/"+r.provider.pkg+".Provider/"+name
	if err := r.lease.Conn().Invoke(ctx, method, out, in, forceCodec()); err != nil {
		if crash := r.provider.fault(r.lease, method, err); crash != nil {
			err = fmt.Errorf("%w: %w", crash, err)
		}
		return message{}, false, err
	}
	if answer, err = parse(r.provider.pkg, name+".Response", in); err != nil {
		return message{}, false, err
	}
	if answer.failed() {
		absent, err := r.judge(name, answer.diagnostics())
		return message{}, absent, err
	}
	if _, deferred := answer.sub("deferred"); deferred {
		return message{}, false, fmt.Errorf("%w: it was put off", ErrUnclear)
	}
	return answer, false, nil
}

// judge says what the errors of an answer mean.
func (r objectReader) judge(call string, diagnostics []Diagnostic) (absent bool, err error) {
	for _, d := range diagnostics {
		if d.Error && (r.target.NotFound == nil || !r.target.NotFound(d)) {
			return false, &ReadError{Call: call, Diagnostics: diagnostics}
		}
	}
	return true, nil
}
