// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

// applyResourceChange puts a change to the gate before it is sent.
//
// The order is: admission, a slot of the forward limit, the permit's start,
// the provider. A change that waits for its admission holds no slot, and a
// change that holds a slot waits for the provider alone; otherwise waiting
// changes could keep the one from being sent that they wait for.
func (x *exchange) applyResourceChange(ctx context.Context, request *frame) (*frame, error) {
	host := x.conn.provider.host
	if !host.begin() {
		return nil, status.Error(codes.Unavailable, errClosing.Error())
	}
	defer host.changes.Done()
	req, err := parse(x.conn.provider.pkg, "ApplyResourceChange.Request", request)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	admission, cancel := x.admission(ctx)
	defer cancel(nil)
	call, err := x.decodeCall(admission, req)
	if err != nil {
		return x.refuse(ctx, req, err)
	}
	if admission.Err() != nil {
		return x.refuse(ctx, req, context.Cause(admission))
	}
	permit, err := host.gate.Admit(admission, call)
	if err != nil {
		return x.refuse(ctx, req, reason(admission, err))
	}
	return x.send(ctx, admission, request, req, call.Schema, permit)
}

// admission returns a context that ends when the CLI hangs up, when it asks
// the provider to stop, and when the host closes.
func (x *exchange) admission(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	admission, cancel := context.WithCancelCause(ctx)
	var detach []func() bool
	for _, end := range []context.Context{x.conn.stopped, x.conn.provider.host.closing} {
		// AfterFunc runs on its own time; what has already ended ends this now.
		if end.Err() != nil {
			cancel(context.Cause(end))
		}
		detach = append(detach, context.AfterFunc(end, func() { cancel(context.Cause(end)) }))
	}
	return admission, func(cause error) {
		for _, stop := range detach {
			stop()
		}
		cancel(cause)
	}
}

// reason returns why a change was not admitted. When the wait was ended, that
// tells more than whatever the gate made of it, unless it refused.
func reason(admission context.Context, err error) error {
	var refusal *Refusal
	if !errors.As(err, &refusal) && admission.Err() != nil {
		return context.Cause(admission)
	}
	return err
}

// decodeCall makes a Call of an ApplyResourceChange request.
func (x *exchange) decodeCall(ctx context.Context, req message) (Call, error) {
	name, schema, err := x.resourceSchema(ctx, req)
	if err != nil {
		return Call{}, err
	}
	call := Call{
		Provider: x.conn.provider.source, Type: name, Schema: schema,
		ProviderConfig: x.conn.configuration(),
	}
	for _, part := range []struct {
		field string
		value *cty.Value
	}{{"prior_state", &call.Prior}, {"config", &call.Config}, {"planned_state", &call.Planned}} {
		if *part.value, err = req.value(part.field, schema.Type); err != nil {
			return Call{}, err
		}
	}
	call.Action = actionOf(call.Prior, call.Planned)
	return call, nil
}

func actionOf(prior, planned cty.Value) Action {
	switch {
	case planned.IsNull():
		return Delete
	case prior.IsNull():
		return Create
	default:
		return Update
	}
}

// send forwards an admitted change and reports what became of it.
func (x *exchange) send(ctx, admission context.Context, request *frame, req message, schema *Schema, permit Permit) (*frame, error) {
	// The outcome is reported also when the CLI is gone.
	report := context.WithoutCancel(ctx)
	lease, release, err := x.prepare(admission)
	if err != nil {
		permit.Done(report, Outcome{Result: NotSent, Err: err, SenderDead: errors.Is(err, plugins.ErrCrashed)})
		return x.refuse(ctx, req, reason(admission, err))
	}
	defer release()
	if err := permit.Start(admission); err != nil {
		permit.Done(report, Outcome{Result: NotSent, Err: err})
		return x.refuse(ctx, req, reason(admission, err))
	}
	bound, cancel := x.conn.provider.host.bound(ctx)
	defer cancel(nil)
	answer, err := x.invoke(bound, lease, request)
	if err != nil {
		cause := x.lost(bound, lease, err)
		permit.Done(report, Outcome{Result: Unknown, Err: cause, SenderDead: errors.Is(cause, plugins.ErrCrashed), HungUp: ctx.Err() != nil})
		return nil, err
	}
	outcome := x.outcome(schema, answer)
	outcome.HungUp = ctx.Err() != nil
	permit.Done(report, outcome)
	return answer, nil
}

// prepare takes a slot of the forward limit and the process of the connection.
// Both come before the permit's start, because either may take its time.
func (x *exchange) prepare(admission context.Context) (*plugins.Lease, func(), error) {
	slots := x.conn.provider.host.slots
	select {
	case slots <- struct{}{}:
	case <-admission.Done():
		return nil, nil, context.Cause(admission)
	}
	lease, err := x.conn.seat.Lease(admission)
	if err != nil {
		<-slots
		return nil, nil, err
	}
	// A wait that ends well at the moment it is called off is called off.
	if admission.Err() != nil {
		lease.Release()
		<-slots
		return nil, nil, context.Cause(admission)
	}
	return lease, func() {
		lease.Release()
		<-slots
	}, nil
}

// bound returns the context of a change that was sent. A CLI that hangs up
// does not cancel it, since the cloud may already be at work; from then on,
// however, it has only so much time.
func (h *Host) bound(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	bound, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	abandoned := context.AfterFunc(h.abandoned, func() { cancel(errClosing) })
	hungUp := context.AfterFunc(ctx, func() {
		grace := time.AfterFunc(h.hangupGrace, func() { cancel(context.DeadlineExceeded) })
		context.AfterFunc(bound, func() { grace.Stop() })
	})
	return bound, func(cause error) {
		abandoned()
		hungUp()
		cancel(cause)
	}
}

// lost returns why no answer came to a change that was sent.
func (x *exchange) lost(bound context.Context, lease *plugins.Lease, err error) error {
	if crash := x.fault(lease, err); crash != nil {
		return fmt.Errorf("%w: %w", crash, err)
	}
	if bound.Err() != nil {
		return fmt.Errorf("%w: %w", context.Cause(bound), err)
	}
	return err
}

// outcome decodes a provider's answer to a change.
func (x *exchange) outcome(schema *Schema, answer *frame) Outcome {
	m, err := parse(x.conn.provider.pkg, "ApplyResourceChange.Response", answer)
	if err != nil {
		return Outcome{Result: Unknown, Err: err}
	}
	outcome := Outcome{Result: Succeeded, Diagnostics: m.diagnostics()}
	if m.failed() {
		outcome.Result = Failed
	}
	state, err := m.value("new_state", schema.Type)
	if err != nil {
		outcome.Result, outcome.Err = Unknown, err
		return outcome
	}
	outcome.NewState = state
	return outcome
}
