// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"crypto/sha256"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
	"google.golang.org/grpc/status"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

// configureProvider moves the connection to the process that has the given
// configuration. The process is configured once; later connections with the
// same configuration get its first answer again, since not every provider
// bears being configured twice while it works.
func (x *exchange) configureProvider(ctx context.Context, request *frame) (*frame, error) {
	p := x.conn.provider
	config, key := p.readConfiguration(ctx, request)
	replay := func(ctx context.Context, instance plugins.Instance) (plugins.Answer, error) {
		return p.configure(ctx, x.method, instance, request)
	}
	answer, err := x.conn.seat.Configure(ctx, key, replay)
	if err != nil {
		return nil, configureError(ctx, err)
	}
	if answer.Accepted {
		x.conn.setConfiguration(config)
		p.configured(ctx, key, x.method, config, request)
	}
	return &frame{data: answer.Message}, nil
}

// configureError passes the provider's own status on.
func configureError(ctx context.Context, err error) error {
	if _, ok := status.FromError(err); ok {
		return err
	}
	return unavailable(ctx, err)
}

// configure sends a configuration to a fresh process. It may be called long
// after the CLI's request was served.
func (p *provider) configure(ctx context.Context, method string, instance plugins.Instance, request *frame) (plugins.Answer, error) {
	answer := &frame{}
	err := instance.Conn().Invoke(ctx, method, request, answer, forceCodec())
	if err != nil {
		return plugins.Answer{}, err
	}
	m, err := parse(p.pkg, p.configureMessage()+".Response", answer)
	if err != nil {
		return plugins.Answer{}, err
	}
	return plugins.Answer{Message: answer.data, Accepted: !m.failed()}, nil
}

func (p *provider) configureMessage() string {
	if p.protocol == 5 {
		return "Configure"
	}
	return "ConfigureProvider"
}

// readConfiguration decodes a configuration and returns its key. A request
// that cannot be decoded is still served: it gets a key of its own bytes.
func (p *provider) readConfiguration(ctx context.Context, request *frame) (cty.Value, plugins.Key) {
	config, key, err := p.decodeConfiguration(ctx, request)
	if err != nil {
		// The error names fields and types; a value is never part of it.
		p.host.log.Warn("provider configuration not understood", "provider", p.source, "error", err)
		return cty.NullVal(cty.DynamicPseudoType), sha256.Sum256(request.data)
	}
	return config, key
}

func (p *provider) decodeConfiguration(ctx context.Context, request *frame) (cty.Value, plugins.Key, error) {
	schema, err := p.schemas.providerConfig(ctx)
	if err != nil {
		return cty.NilVal, plugins.Key{}, err
	}
	m, err := parse(p.pkg, p.configureMessage()+".Request", request)
	if err != nil {
		return cty.NilVal, plugins.Key{}, err
	}
	config, err := m.value("config", schema.Type)
	if err != nil {
		return cty.NilVal, plugins.Key{}, err
	}
	canonical, err := ctymsgpack.Marshal(config, schema.Type)
	if err != nil {
		return cty.NilVal, plugins.Key{}, err
	}
	return config, configurationKey(m, config, canonical), nil
}

// configurationKey hashes what makes two configured processes differ: the
// decoded configuration and the CLI's version. Terraform allows deferral in the
// apply walk and not in the plan walk; that only makes a difference to a
// provider whose configuration is not known yet, and would otherwise keep the
// two walks from sharing a process.
func configurationKey(request message, config cty.Value, canonical []byte) plugins.Key {
	var deferral []byte
	capabilities, set := request.sub("client_capabilities")
	if set && capabilities.flag("deferral_allowed") && !config.IsWhollyKnown() {
		deferral = []byte{1}
	}
	return hashParts([]byte(request.text("terraform_version")), deferral, canonical)
}

// configured remembers a configuration, and reports it once.
func (p *provider) configured(ctx context.Context, key plugins.Key, method string, config cty.Value, request *frame) {
	first := p.configurations.add(config, key, method, request)
	if p.host.watcher != nil && first {
		p.host.watcher.Configured(ctx, p.source, config)
	}
}
