// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"fmt"
)

// getProviderSchema keeps a copy of the answer. The CLI asks once per run when
// the provider allows it, so that most connections never see the schema.
func (x *exchange) getProviderSchema(ctx context.Context, request *frame) (*frame, error) {
	answer, err := x.forward(ctx, request)
	if err == nil {
		x.conn.provider.schemas.learn(answer)
	}
	return answer, err
}

// schemas keeps the schemas of one provider. They depend on the provider
// program alone, hence one copy serves all connections. Resource types are
// translated when first needed: large providers have thousands.
type schemas struct {
	provider *provider
	// turn holds a token while nobody works on the fields below; it is a mutex
	// whose wait can be ended.
	turn chan struct{}
	// raw is an answer that was not needed yet, index one that was.
	raw       *frame
	index     *schemaIndex
	config    *Schema
	resources map[string]*Schema
}

func newSchemas(p *provider) *schemas {
	s := &schemas{provider: p, turn: make(chan struct{}, 1), resources: map[string]*Schema{}}
	s.turn <- struct{}{}
	return s
}

func (s *schemas) lock(ctx context.Context) error {
	select {
	case <-s.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *schemas) unlock() { s.turn <- struct{}{} }

// learn keeps the answer to a GetProviderSchema call of the CLI for when a
// schema is needed. It does not wait for a fetch under way.
func (s *schemas) learn(answer *frame) {
	select {
	case <-s.turn:
		defer s.unlock()
	default:
		return
	}
	if s.raw == nil && s.index == nil {
		s.raw = answer
	}
}

// answer returns the indexed schema answer, asking the provider when the CLI
// never did. Called with the turn.
func (s *schemas) answer(ctx context.Context) (*schemaIndex, error) {
	if s.index != nil {
		return s.index, nil
	}
	raw := s.raw
	if raw == nil {
		fetched, err := s.fetch(ctx)
		if err != nil {
			return nil, fmt.Errorf("provider %s: get schema: %w", s.provider.source, err)
		}
		raw = fetched
	}
	s.raw = nil
	index, err := indexSchemas(s.provider.pkg, raw)
	if err != nil {
		return nil, err
	}
	if index.failure != "" {
		return nil, fmt.Errorf("provider %s: get schema: %s", s.provider.source, index.failure)
	}
	s.index = index
	return index, nil
}

func (s *schemas) fetch(ctx context.Context) (*frame, error) {
	seat := s.provider.pool.Seat()
	defer seat.Close()
	lease, err := seat.Lease(ctx)
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	name := "GetProviderSchema"
	if s.provider.protocol == 5 {
		name = "GetSchema"
	}
	answer := &frame{}
	err = lease.Conn().Invoke(ctx, "/"+s.provider.pkg+".Provider/"+name, &frame{}, answer, forceCodec())
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// resource returns the schema of a resource type.
func (s *schemas) resource(ctx context.Context, name string) (*Schema, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.unlock()
	if schema := s.resources[name]; schema != nil {
		return schema, nil
	}
	index, err := s.answer(ctx)
	if err != nil {
		return nil, err
	}
	data, ok := index.resources[name]
	if !ok {
		return nil, fmt.Errorf("%w: provider %s has no resource type %q", errNotUnderstood, s.provider.source, name)
	}
	schema, err := index.schema(data)
	if err != nil {
		return nil, fmt.Errorf("resource type %q: %w", name, err)
	}
	s.resources[name] = schema
	return schema, nil
}

// providerConfig returns the schema of the provider configuration.
func (s *schemas) providerConfig(ctx context.Context) (*Schema, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.unlock()
	if s.config != nil {
		return s.config, nil
	}
	index, err := s.answer(ctx)
	if err != nil {
		return nil, err
	}
	// A provider without a provider block decodes as an empty schema.
	s.config, err = index.schema(index.config)
	return s.config, err
}
