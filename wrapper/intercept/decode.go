// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"errors"
	"fmt"

	// The plugin protocol messages of both versions are registered with the
	// protobuf runtime by these packages; there is no second copy of them.
	_ "github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	_ "github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// errNotUnderstood is wrapped by every error about a message that could not be
// decoded.
var errNotUnderstood = errors.New("provider message not understood")

// message reads and writes a protocol message by field names. The two protocol
// versions differ in package and in a few names, so that reflection serves
// both; a field that a version lacks reads as its zero value.
type message struct{ protoreflect.Message }

// newMessage returns an empty message, such as ("tfplugin6",
// "ReadResource.Request").
func newMessage(pkg, name string) (message, error) {
	full := protoreflect.FullName(pkg + "." + name)
	mt, err := protoregistry.GlobalTypes.FindMessageByName(full)
	if err != nil {
		return message{}, fmt.Errorf("%w: %s: %w", errNotUnderstood, full, err)
	}
	return message{mt.New()}, nil
}

// parse decodes a frame.
func parse(pkg, name string, f *frame) (message, error) {
	m, err := newMessage(pkg, name)
	if err != nil {
		return message{}, err
	}
	if err := proto.Unmarshal(f.data, m.Interface()); err != nil {
		return message{}, fmt.Errorf("%w: %s: %w", errNotUnderstood, name, err)
	}
	return m, nil
}

// encode returns the message as a frame.
func (m message) encode() (*frame, error) {
	data, err := proto.Marshal(m.Interface())
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", m.Descriptor().FullName(), err)
	}
	return &frame{data: data}, nil
}

func (m message) field(name string) protoreflect.FieldDescriptor {
	return m.Descriptor().Fields().ByName(protoreflect.Name(name))
}

func (m message) text(name string) string {
	if fd := m.field(name); fd != nil && fd.Kind() == protoreflect.StringKind {
		return m.Get(fd).String()
	}
	return ""
}

func (m message) bytes(name string) []byte {
	if fd := m.field(name); fd != nil && fd.Kind() == protoreflect.BytesKind {
		return m.Get(fd).Bytes()
	}
	return nil
}

func (m message) flag(name string) bool {
	fd := m.field(name)
	return fd != nil && fd.Kind() == protoreflect.BoolKind && m.Get(fd).Bool()
}

func (m message) integer(name string) int64 {
	if fd := m.field(name); fd != nil && fd.Kind() == protoreflect.Int64Kind {
		return m.Get(fd).Int()
	}
	return 0
}

// enum returns the name of an enumeration value.
func (m message) enum(name string) string {
	fd := m.field(name)
	if fd == nil || fd.Kind() != protoreflect.EnumKind {
		return ""
	}
	value := fd.Enum().Values().ByNumber(m.Get(fd).Enum())
	if value == nil {
		return ""
	}
	return string(value.Name())
}

// enumValue returns the value of an enumeration field by name.
func enumValue(fd protoreflect.FieldDescriptor, name string) protoreflect.Value {
	value := fd.Enum().Values().ByName(protoreflect.Name(name))
	if value == nil {
		return fd.Default()
	}
	return protoreflect.ValueOfEnum(value.Number())
}

// sub returns a message field and whether it is set.
func (m message) sub(name string) (message, bool) {
	fd := m.field(name)
	if fd == nil || fd.Message() == nil || fd.IsList() || fd.IsMap() || !m.Has(fd) {
		return message{}, false
	}
	return message{m.Get(fd).Message()}, true
}

// list returns the elements of a repeated message field.
func (m message) list(name string) []message {
	fd := m.field(name)
	if fd == nil || !fd.IsList() || fd.Message() == nil {
		return nil
	}
	values := m.Get(fd).List()
	elements := make([]message, values.Len())
	for i := range elements {
		elements[i] = message{values.Get(i).Message()}
	}
	return elements
}

func (m message) setText(name, value string) {
	m.Set(m.field(name), protoreflect.ValueOfString(value))
}

func (m message) setBytes(name string, value []byte) {
	m.Set(m.field(name), protoreflect.ValueOfBytes(value))
}

// setSub sets a message field, if this protocol version has it.
func (m message) setSub(name string, value message) {
	if fd := m.field(name); fd != nil {
		m.Set(fd, protoreflect.ValueOfMessage(value.Message))
	}
}

// add appends an empty element to a repeated message field and returns it.
func (m message) add(name string) message {
	return message{m.Mutable(m.field(name)).List().AppendMutable().Message()}
}

// diagnostics returns the diagnostics of an answer.
func (m message) diagnostics() []Diagnostic {
	var diags []Diagnostic
	for _, d := range m.list("diagnostics") {
		diags = append(diags, diagnosticOf(d))
	}
	return diags
}

// diagnosticOf reads a Diagnostic message. Whatever is no warning counts as an
// error, as in the CLI.
func diagnosticOf(d message) Diagnostic {
	return Diagnostic{
		Error:   d.enum("severity") != "WARNING",
		Summary: d.text("summary"), Detail: d.text("detail"),
	}
}

// failed reports whether an answer carries an error diagnostic.
func (m message) failed() bool {
	for _, d := range m.diagnostics() {
		if d.Error {
			return true
		}
	}
	return false
}

// value decodes a DynamicValue field. A field that is not set is null.
func (m message) value(name string, ty cty.Type) (cty.Value, error) {
	dynamic, set := m.sub(name)
	if !set {
		return cty.NullVal(ty), nil
	}
	val, err := decodeDynamic(dynamic, ty)
	if err != nil {
		return cty.NilVal, fmt.Errorf("%w: %s.%s: %w", errNotUnderstood, m.Descriptor().FullName(), name, err)
	}
	return val, nil
}

// decodeDynamic decodes a DynamicValue message of either encoding. The
// decoders of cty panic on some inconsistent values instead of returning an
// error; what a provider sends must not end this process.
func decodeDynamic(dynamic message, ty cty.Type) (val cty.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			val, err = cty.NilVal, fmt.Errorf("inconsistent value: %v", r)
		}
	}()
	if data := dynamic.bytes("msgpack"); len(data) > 0 {
		return ctymsgpack.Unmarshal(data, ty)
	}
	if data := dynamic.bytes("json"); len(data) > 0 {
		return ctyjson.Unmarshal(data, ty)
	}
	return cty.NullVal(ty), nil
}
