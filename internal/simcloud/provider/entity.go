// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
	"github.com/tfweaver/tfweaver/internal/simcloud/client"
)

// model is the state of one resource: a pointer to a struct with tfsdk tags.
type model[M any] interface {
	*M
	// id is the field of the attribute "id".
	id() *types.String
	// target is the object the names in the model stand for.
	target(subscription string) (arm.ID, error)
	// apply writes the arguments into r, which is the object as it is or empty.
	apply(r *arm.Resource)
	// fill takes arguments and computed values from the object. Spellings that
	// differ only in case stay as they are, for the cloud ignores case.
	fill(id arm.ID, r arm.Resource)
	// observed is what the cloud keeps about every object; it is filled for all
	// models alike.
	observed() *facts
}

// entity is a managed resource whose model is M.
type entity[M any, P model[M]] struct {
	name   string // without the provider prefix
	schema schema.Schema
	kind   arm.Kind // of the object behind it
	// suffix is what the id has behind the id of the object, for a resource that
	// is only an aspect of an object.
	suffix string
	// present reports whether the aspect is there; nil means always.
	present func(arm.Resource) bool
	// adopts says that the object is there before it is created here.
	adopts bool
	// write and remove change the cloud; nil means PUT and DELETE of the object.
	write  func(context.Context, *session, arm.ID, P) (arm.Resource, error)
	remove func(context.Context, *session, arm.ID, P) error

	session *session
}

// Metadata implements resource.Resource.
func (e *entity[M, P]) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = typeName + "_" + e.name
}

// Schema implements resource.Resource.
func (e *entity[M, P]) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = withFacts(e.schema)
}

// Configure implements resource.ResourceWithConfigure.
func (e *entity[M, P]) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	e.session = configured(req.ProviderData, &resp.Diagnostics)
}

// configured is the session behind provider data, nil before the provider is
// configured.
func configured(data any, diags *diag.Diagnostics) *session {
	if data == nil {
		return nil
	}
	s, ok := data.(*session)
	if !ok {
		diags.AddError("Unexpected provider data", fmt.Sprintf("got %T", data))
	}
	return s
}

// Create implements resource.Resource. What is already there must be imported:
// taking it over silently would make two owners of one object.
func (e *entity[M, P]) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	m := P(new(M))
	resp.Diagnostics.Append(req.Plan.Get(ctx, m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id, err := m.target(e.session.subscription)
	if err != nil {
		resp.Diagnostics.Append(e.failure("create", "", err))
		return
	}
	if _, err := e.find(ctx, id); err == nil && !e.adopts {
		resp.Diagnostics.AddError(fmt.Sprintf("Cannot create simcloud_%s: it already exists", e.name),
			fmt.Sprintf("%s is already there. To manage it here, import it.", id))
		return
	} else if err != nil && (e.adopts || !client.IsNotFound(err)) {
		resp.Diagnostics.Append(e.failure("create", id.String(), err))
		return
	}
	r, err := e.put(ctx, id, m)
	if err != nil {
		resp.Diagnostics.Append(e.failure("create", id.String(), err))
		if accepted := new(client.OperationError); !errors.As(err, &accepted) {
			return
		}
		// The object may be there: keep it in the state, tainted, so that the next
		// run looks at it instead of forgetting it.
		if now, err := e.find(ctx, id); err == nil {
			r = now
		}
	}
	e.settle(id, m, r)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	resp.Diagnostics.Append(keep(ctx, resp.Private, r)...)
}

// Read implements resource.Resource.
func (e *entity[M, P]) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	m := P(new(M))
	resp.Diagnostics.Append(req.State.Get(ctx, m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id, err := e.object(m.id().ValueString())
	if err != nil {
		resp.Diagnostics.Append(e.failure("read", m.id().ValueString(), err))
		return
	}
	r, err := e.find(ctx, id)
	switch {
	case client.IsNotFound(err):
		resp.State.RemoveResource(ctx)
		return
	case err != nil:
		resp.Diagnostics.Append(e.failure("read", id.String(), err))
		return
	}
	e.settle(id, m, r)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// Update implements resource.Resource.
func (e *entity[M, P]) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	m := P(new(M))
	resp.Diagnostics.Append(req.Plan.Get(ctx, m)...)
	resp.Diagnostics.Append(e.checkKept(ctx, req.Private)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id, err := e.object(m.id().ValueString())
	if err != nil {
		resp.Diagnostics.Append(e.failure("update", m.id().ValueString(), err))
		return
	}
	planned := *m
	r, err := e.put(ctx, id, m)
	if err != nil {
		resp.Diagnostics.Append(e.failure("update", id.String(), err))
		return
	}
	e.settle(id, m, r)
	m.observed().settleAs(P(&planned).observed())
	if s, ok := any(m).(settler[M]); ok {
		s.settleAs(planned)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	resp.Diagnostics.Append(keep(ctx, resp.Private, r)...)
}

// Delete implements resource.Resource. It needs no private state: Terraform sends
// none with the delete of a tainted object that is replaced.
func (e *entity[M, P]) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	m := P(new(M))
	resp.Diagnostics.Append(req.State.Get(ctx, m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id, err := e.object(m.id().ValueString())
	if err == nil {
		err = e.destroy(ctx, id, m)
	}
	if err != nil {
		resp.Diagnostics.Append(e.failure("delete", m.id().ValueString(), err))
	}
}

// ImportState implements resource.ResourceWithImportState; the import id is the
// attribute "id".
func (e *entity[M, P]) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	if _, err := e.object(req.ID); err != nil {
		resp.Diagnostics.Append(e.failure("import", req.ID, err))
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), req.ID)...)
	resp.Diagnostics.Append(keep(ctx, resp.Private, arm.Resource{})...)
}

// object is the object behind an id of this resource.
func (e *entity[M, P]) object(text string) (arm.ID, error) {
	base := text
	if e.suffix != "" {
		var ok bool
		if base, ok = cutSuffixFold(text, e.suffix); !ok {
			return arm.ID{}, fmt.Errorf("%w: %q does not end in %s", arm.ErrBadID, text, e.suffix)
		}
	}
	id, err := arm.ParseID(base)
	if err != nil {
		return arm.ID{}, err
	}
	if id.Kind != e.kind {
		return arm.ID{}, fmt.Errorf("%w: %q is a %s, not a %s", arm.ErrBadID, text, id.Kind, e.kind)
	}
	return id, nil
}

func cutSuffixFold(s, suffix string) (string, bool) {
	at := len(s) - len(suffix)
	if at < 0 || !strings.EqualFold(s[at:], suffix) {
		return s, false
	}
	return s[:at], true
}

// find reads the object; an aspect that is not there is an object not found.
func (e *entity[M, P]) find(ctx context.Context, id arm.ID) (arm.Resource, error) {
	r, err := e.session.cloud.Get(ctx, id)
	if err == nil && e.present != nil && !e.present(r) {
		return r, &arm.Error{HTTPStatus: 404, Code: arm.CodeResourceNotFound, Message: "the resource has no such aspect", Target: id.String() + e.suffix}
	}
	return r, err
}

func (e *entity[M, P]) put(ctx context.Context, id arm.ID, m P) (arm.Resource, error) {
	if e.write != nil {
		return e.write(ctx, e.session, id, m)
	}
	var r arm.Resource
	m.apply(&r)
	return e.session.cloud.Put(ctx, id, r, "")
}

func (e *entity[M, P]) destroy(ctx context.Context, id arm.ID, m P) error {
	if e.remove != nil {
		return e.remove(ctx, e.session, id, m)
	}
	return e.session.cloud.Delete(ctx, id, "")
}

// settle takes the object into the model. The id keeps its spelling once known.
func (e *entity[M, P]) settle(id arm.ID, m P, r arm.Resource) {
	m.fill(id, r)
	m.observed().see(r)
	text := m.id()
	if text.IsNull() || text.IsUnknown() {
		*text = types.StringValue(id.String() + e.suffix)
	}
}

// failure is a diagnostic for an error: code, message and object of the cloud's
// answer where it is one.
func (e *entity[M, P]) failure(verb, object string, err error) diag.Diagnostic {
	return failure(verb, e.name, object, err)
}

func failure(verb, name, object string, err error) diag.Diagnostic {
	var answer *arm.Error
	if !errors.As(err, &answer) {
		return diag.NewErrorDiagnostic(fmt.Sprintf("Cannot %s simcloud_%s", verb, name), fmt.Sprintf("%v\n\nObject: %s", err, object))
	}
	return diag.NewErrorDiagnostic(
		fmt.Sprintf("Cannot %s simcloud_%s: %s", verb, name, answer.Code),
		fmt.Sprintf("%v\n\nCode: %s\nObject: %s", err, answer.Code, object))
}

// privateKey is the key in private state.
const privateKey = "object"

// privateState is what the provider keeps beside the state.
type privateState struct {
	Etag string `json:"etag"`
}

// privateWriter and privateReader are the halves of the framework's private
// state, whose type cannot be named outside it.
type privateWriter interface {
	SetKey(context.Context, string, []byte) diag.Diagnostics
}

type privateReader interface {
	GetKey(context.Context, string) ([]byte, diag.Diagnostics)
}

func keep(ctx context.Context, private privateWriter, r arm.Resource) diag.Diagnostics {
	value, err := json.Marshal(privateState{Etag: r.Etag})
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("Cannot encode private state", err.Error())}
	}
	return private.SetKey(ctx, privateKey, value)
}

// checkKept refuses to update without the private state that every create,
// update and import leaves behind.
func (e *entity[M, P]) checkKept(ctx context.Context, private privateReader) diag.Diagnostics {
	value, diags := private.GetKey(ctx, privateKey)
	if len(value) == 0 && !diags.HasError() {
		diags.AddError("Private state is missing",
			fmt.Sprintf("simcloud_%s keeps data in private state, and it did not come back: something between Terraform and the provider has dropped it, or the create of the object was interrupted. Replace the object, or remove it from the state and import it.", e.name))
	}
	return diags
}
