// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package provider is the Terraform provider of the simulated cloud. It is an
// ordinary provider: it takes no locks, knows of no other run, and reports what
// the cloud answers.
//
// Every managed resource keeps the change token of its object in private state
// and refuses to update without it, so that a program between Terraform and the
// provider that loses private state is found out.
package provider

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
	"github.com/tfweaver/tfweaver/internal/simcloud/client"
)

// typeName is the prefix of all resource and data source names.
const typeName = "simcloud"

// defaultTokenRetries is how often a write refused for a stale change token is
// tried again with a fresh one.
const defaultTokenRetries = 3

// Environment variables that stand in for provider arguments.
const (
	EnvEndpoint     = "SIMCLOUD_ENDPOINT"
	EnvSubscription = "SIMCLOUD_SUBSCRIPTION"
	EnvActor        = "SIMCLOUD_ACTOR"
	EnvToken        = "SIMCLOUD_TOKEN"
	// EnvCorrelationID and EnvSession have no arguments: they say who runs the
	// configuration, which is not the configuration's business.
	EnvCorrelationID = "SIMCLOUD_CORRELATION_ID"
	EnvSession       = "SIMCLOUD_SESSION"
)

type simcloudProvider struct {
	version string
	getenv  func(string) string
}

var _ provider.Provider = (*simcloudProvider)(nil)

// New makes providers of the given version that read the process environment.
func New(version string) func() provider.Provider { return NewIn(version, os.Getenv) }

// NewIn makes providers that read the environment that getenv looks up.
func NewIn(version string, getenv func(string) string) func() provider.Provider {
	return func() provider.Provider { return &simcloudProvider{version: version, getenv: getenv} }
}

// Metadata implements provider.Provider.
func (p *simcloudProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = typeName, p.version
}

// configModel is the provider block.
type configModel struct {
	Endpoint       types.String `tfsdk:"endpoint"`
	SubscriptionID types.String `tfsdk:"subscription_id"`
	Actor          types.String `tfsdk:"actor"`
	Token          types.String `tfsdk:"token"`
	PollInterval   types.String `tfsdk:"poll_interval"`
	MaxRetries     types.Int64  `tfsdk:"max_retries"`
	TokenRetries   types.Int64  `tfsdk:"token_retries"`
}

// Schema implements provider.Provider.
func (p *simcloudProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, Description: description}
	}
	count := func(description string) schema.Int64Attribute {
		return schema.Int64Attribute{Optional: true, Description: description, Validators: []validator.Int64{int64validator.AtLeast(0)}}
	}
	token := text("Bearer token of the actor. Environment: " + EnvToken + ".")
	token.Sensitive = true
	resp.Schema = schema.Schema{
		Description: "Manages resources of a simulated cloud.",
		Attributes: map[string]schema.Attribute{
			"endpoint":        text("URL of the cloud: http://host:port or unix:///path. Environment: " + EnvEndpoint + "."),
			"subscription_id": text("Subscription to work in; the zero GUID if not set. Environment: " + EnvSubscription + "."),
			"actor":           text("Name the cloud logs for every call. Environment: " + EnvActor + "."),
			"token":           token,
			"poll_interval":   text("Time between two polls of an asynchronous operation, as a duration; 50ms if not set."),
			"max_retries":     count("How often a write refused because another operation is in progress is sent again; 0 if not set."),
			"token_retries":   count("How often a write refused for a stale change token is tried again with a fresh one; 3 if not set."),
		},
	}
}

// Configure implements provider.Provider.
func (p *simcloudProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var cfg configModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &cfg)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if cfg.Endpoint.IsUnknown() || cfg.SubscriptionID.IsUnknown() || cfg.Actor.IsUnknown() || cfg.Token.IsUnknown() {
		resp.Diagnostics.AddError("Provider configuration not known yet",
			"The endpoint, subscription, actor and token of the simulated cloud must be known when planning.")
		return
	}
	s, attribute, err := p.session(cfg, req.TerraformVersion)
	if err != nil {
		resp.Diagnostics.AddAttributeError(path.Root(attribute), "Invalid provider configuration", err.Error())
		return
	}
	resp.ResourceData, resp.DataSourceData = s, s
}

// session is a configured provider.
type session struct {
	cloud        *client.Client
	subscription string
	tokenRetries int
}

// session reads the configuration; attribute says which argument is wrong.
func (p *simcloudProvider) session(cfg configModel, terraformVersion string) (s *session, attribute string, err error) {
	endpoint := p.setting(cfg.Endpoint, EnvEndpoint)
	if endpoint == "" {
		return nil, "endpoint", fmt.Errorf("set the endpoint of the simulated cloud, here or in %s", EnvEndpoint)
	}
	var poll time.Duration
	if text := cfg.PollInterval.ValueString(); text != "" {
		if poll, err = time.ParseDuration(text); err == nil && poll <= 0 {
			err = fmt.Errorf("%q is not positive", text)
		}
		if err != nil {
			return nil, "poll_interval", fmt.Errorf("poll interval: %w", err)
		}
	}
	cloud, err := client.New(client.Config{
		Endpoint: endpoint, Actor: p.setting(cfg.Actor, EnvActor), Token: p.setting(cfg.Token, EnvToken),
		UserAgent:     fmt.Sprintf("Terraform/%s terraform-provider-simcloud/%s", terraformVersion, p.version),
		CorrelationID: cmp.Or(p.getenv(EnvCorrelationID), rand.Text()), Session: p.getenv(EnvSession),
		PollInterval: poll, ConflictRetries: int(cfg.MaxRetries.ValueInt64()),
	})
	if err != nil {
		return nil, "endpoint", err
	}
	s = &session{cloud: cloud, subscription: p.setting(cfg.SubscriptionID, EnvSubscription), tokenRetries: defaultTokenRetries}
	if s.subscription == "" {
		s.subscription = arm.DefaultSubscription
	}
	if !cfg.TokenRetries.IsNull() {
		s.tokenRetries = int(cfg.TokenRetries.ValueInt64())
	}
	return s, "", nil
}

// setting is the argument or, if it is not set, the environment variable.
func (p *simcloudProvider) setting(argument types.String, variable string) string {
	if argument.IsNull() {
		return p.getenv(variable)
	}
	return argument.ValueString()
}

// Resources implements provider.Provider.
func (p *simcloudProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		newResourceGroup, newVirtualNetwork, newSubnet, newNetworkInterface, newPublicIP,
		newSecurityGroup, newSecurityRule, newSubnetAssociation,
		newManagedDisk, newVirtualMachine, newPolicyDocument, newAccountAttachment, newFunction, newFunctionPermission,
		newQuota,
	}
}

// DataSources implements provider.Provider.
func (p *simcloudProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{newResourceGroupSource, newVirtualNetworkSource, newQuotaSource}
}
