// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package intercept stands between the Terraform CLI and its providers.
//
// The CLI is given one reattach address per provider (TF_REATTACH_PROVIDERS);
// behind each address a raw gRPC proxy forwards every method as bytes to the
// real provider process. Only a few methods are looked at: those that reveal
// what a call would do to the cloud (PlanResourceChange, ApplyResourceChange),
// those that reveal what the cloud looks like (ReadResource,
// ImportResourceState), and those that the proxy needs to route
// (ConfigureProvider, GetProviderSchema, StopProvider). Methods that this
// version does not know pass through untouched, streaming ones included.
//
// The package knows providers and the plugin protocol (5 and 6). It knows
// nothing of locks: every call that changes the cloud is put to a [Gate]
// before it is forwarded, and a [Watcher] is told what was seen.
package intercept

import (
	"context"

	"github.com/zclconf/go-cty/cty"
)

// Action is what an ApplyResourceChange call does to its resource.
type Action string

// The actions. A replace is never one call: Terraform sends its delete and
// its create separately.
const (
	Create Action = "create"
	Update Action = "update"
	Delete Action = "delete"
)

// Call is one ApplyResourceChange as decoded from the wire.
//
// Values conform to the resource type's schema. Prior is null for a create,
// Config and Planned are null for a delete; unknown values stay unknown, so
// that "not known yet" can be told from null.
type Call struct {
	// Provider is the full source address, such as
	// registry.terraform.io/hashicorp/azurerm.
	Provider string
	// Type is the resource type name.
	Type string
	// Action is derived from which of Prior and Planned are null.
	Action                 Action
	Prior, Config, Planned cty.Value
	// Schema describes the resource type; it says which attributes are
	// sensitive.
	Schema *Schema
	// ProviderConfig is the configuration that the connection's process was
	// configured with; null when it was never configured. It may hold secrets
	// and must not be logged.
	ProviderConfig cty.Value
}

// Gate decides whether a call may be sent to the provider.
type Gate interface {
	// Admit blocks until the call may be sent, was refused, or ctx ended. ctx
	// ends when the CLI asked the provider to stop or hung up. A refusal is
	// returned as a *Refusal; any other error also means that the call is not
	// sent. Admit is called concurrently.
	Admit(ctx context.Context, call Call) (Permit, error)
}

// Permit is the right to send one call.
type Permit interface {
	// Start is called immediately before the call is forwarded. The call is
	// not forwarded when it returns an error.
	Start(ctx context.Context) error
	// Done reports what became of the call, exactly once after a successful
	// Admit, also when Start failed (then Outcome.Result is NotSent). ctx is
	// not bound to the CLI's request: the outcome is reported also when the
	// CLI is gone.
	Done(ctx context.Context, outcome Outcome)
}

// Result is the fate of a call.
type Result string

// The results of a call.
const (
	// Succeeded: the provider answered without an error diagnostic.
	Succeeded Result = "succeeded"
	// Failed: the provider answered with an error diagnostic; NewState says
	// what is left.
	Failed Result = "failed"
	// Unknown: the answer was lost (provider crash, transport error, bound
	// exceeded); the cloud may or may not have changed.
	Unknown Result = "unknown"
	// NotSent: the call never left the proxy.
	NotSent Result = "not_sent"
)

// Outcome is what became of a forwarded call.
type Outcome struct {
	Result Result
	// NewState is the state the provider returned; null when the object is
	// gone or was never made, cty.NilVal when Result is Unknown or NotSent.
	NewState cty.Value
	// Diagnostics are the provider's own.
	Diagnostics []Diagnostic
	// Err is the transport error behind Unknown.
	Err error
	// SenderDead says of an Unknown that the process which the call was given to
	// has ended: it sends nothing any more. Of a NotSent it says that the process
	// which was to get it has.
	SenderDead bool
	// HungUp: the CLI had gone before it could be told.
	HungUp bool
}

// Left says whether the object was there after a call that was answered, as far
// as the answer tells. A create that failed may have left an object behind,
// which is tainted then. An error without any state tells nothing: Terraform
// itself keeps the prior state then, and a create may or may not have had an
// effect. Nothing is known of an outcome without an answer.
func (o Outcome) Left() (exists, known bool) {
	switch o.Result {
	case Succeeded:
		return !o.NewState.IsNull(), true
	case Failed:
		exists = !o.NewState.IsNull()
		return exists, exists
	default:
		return false, false
	}
}

// Diagnostic is a provider's error or warning.
type Diagnostic struct {
	Error           bool
	Summary, Detail string
}

// Refusal is the error by which a [Gate] keeps a call from being sent. It is
// shown to the user as an error diagnostic of the resource; Detail carries
// everything that matters, because Terraform drops the address of a refused
// delete.
type Refusal struct {
	Summary, Detail string
	// Attribute is the top-level attribute that the refusal is about, empty
	// for the whole resource.
	Attribute string
}

// Error returns the summary and the detail in one line each.
func (r *Refusal) Error() string { return r.Summary + ": " + r.Detail }

// Watcher is told what passes through the proxy. Its methods are called
// concurrently, must return quickly, and cannot change what happens. They are
// called when the provider has answered and before the CLI gets the answer, so
// that whatever the CLI does because of it comes later. Answers with an error
// are not reported.
type Watcher interface {
	// Configured reports a provider configuration, once per distinct one.
	Configured(ctx context.Context, provider string, config cty.Value)
	// Read reports a ReadResource answer: the state before and after the
	// refresh; after is null when the object is gone.
	Read(ctx context.Context, provider, resourceType string, before, after, providerConfig cty.Value)
	// Imported reports one object of an ImportResourceState answer.
	Imported(ctx context.Context, provider, resourceType, id string, state, providerConfig cty.Value)
	// Planned reports that a PlanResourceChange was answered, and nothing of the
	// values: most runs plan far more than they change. Terraform plans more than
	// once per change.
	Planned(ctx context.Context, provider, resourceType string)
	// Stopping reports that the CLI asked the provider to stop.
	Stopping(ctx context.Context, provider string)
}
