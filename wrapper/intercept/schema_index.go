// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// schemaIndex finds the schemas of an encoded GetProviderSchema answer without
// decoding it as a whole: the answer of a large provider has tens of megabytes
// and thousands of types, of which a run uses a few. The parts share the
// answer's memory.
type schemaIndex struct {
	pkg string
	// config is the encoded schema of the provider block, nil when there is
	// none.
	config []byte
	// resources are the encoded schemas by resource type.
	resources map[string][]byte
	// failure is the summary of the first error diagnostic.
	failure string
}

// indexSchemas reads the top level of an answer.
func indexSchemas(pkg string, answer *frame) (*schemaIndex, error) {
	layout, err := newMessage(pkg, "GetProviderSchema.Response")
	if err != nil {
		return nil, err
	}
	index := &schemaIndex{pkg: pkg, resources: map[string][]byte{}}
	err = eachField(answer.data, func(number protowire.Number, value []byte) error {
		switch number {
		case numberOf(layout, "provider"):
			index.config = value
		case numberOf(layout, "resource_schemas"):
			return index.addResource(value)
		case numberOf(layout, "diagnostics"):
			return index.addDiagnostic(value)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: GetProviderSchema: %w", errNotUnderstood, err)
	}
	return index, nil
}

func numberOf(layout message, name string) protowire.Number {
	return layout.field(name).Number()
}

// eachField calls visit for every length-delimited field of a message.
func eachField(data []byte, visit func(protowire.Number, []byte) error) error {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		size := protowire.ConsumeFieldValue(number, kind, data)
		if size < 0 {
			return protowire.ParseError(size)
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(data)
			if err := visit(number, value); err != nil {
				return err
			}
		}
		data = data[size:]
	}
	return nil
}

// The fields of a map entry, as the protobuf encoding defines them.
const (
	mapKey   protowire.Number = 1
	mapValue protowire.Number = 2
)

func (i *schemaIndex) addResource(entry []byte) error {
	var name string
	schema := []byte{}
	err := eachField(entry, func(number protowire.Number, value []byte) error {
		switch number {
		case mapKey:
			name = string(value)
		case mapValue:
			schema = value
		}
		return nil
	})
	i.resources[name] = schema
	return err
}

func (i *schemaIndex) addDiagnostic(data []byte) error {
	d, err := newMessage(i.pkg, "Diagnostic")
	if err != nil {
		return err
	}
	if err := proto.Unmarshal(data, d.Interface()); err != nil {
		return err
	}
	if diag := diagnosticOf(d); diag.Error && i.failure == "" {
		i.failure = diag.Summary
	}
	return nil
}

// schema decodes one of the schemas.
func (i *schemaIndex) schema(data []byte) (*Schema, error) {
	m, err := newMessage(i.pkg, "Schema")
	if err != nil {
		return nil, err
	}
	if err := proto.Unmarshal(data, m.Interface()); err != nil {
		return nil, fmt.Errorf("%w: schema: %w", errNotUnderstood, err)
	}
	return buildSchema(m)
}
