// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

const (
	// Address is the provider's source address.
	Address = "registry.terraform.io/cairnstacks/fake"

	// StoreVariable is the environment variable with the directory of the objects, for when the
	// argument store is not set.
	StoreVariable = "CAIRN_FAKE_STORE"

	// IDsVariable is the environment variable with a directory for the ids that were used, which are
	// then the same in each run.
	IDsVariable = "CAIRN_FAKE_IDS"

	// DeferralVariable is the environment variable that lets fake_deferred be deferred, when it is not
	// empty.
	//
	// It is needed because released versions of Terraform (seen with 1.11.4) forbid deferral when
	// planning but allow it when they plan once more while applying, and then fail if it is used: an
	// object that was planned as a change could not be applied.
	DeferralVariable = "CAIRN_FAKE_DEFERRAL"

	// ExpectedAuthentication is the value that the argument authentication must have when require_auth
	// is set.
	ExpectedAuthentication = "open sesame"

	// Refused is a value that the provider's configuration must not have as region, nor as the name
	// in a nested block. Others must not have it either: a resource as value, a data source as id,
	// an ephemeral resource as name.
	Refused = "refused"

	// Outdated is a value of which the provider warns where it does not accept [Refused] when it
	// validates resources.
	Outdated = "outdated"
)

var (
	errNoStore = errors.New(
		"the provider has no store: set its argument store or the environment variable " + StoreVariable)
	errConfigUnknown = errors.New(
		"part of the provider's configuration is not known yet, so it cannot read or change anything")
)

// server implements the provider protocol. Core configures it once, before all requests that need
// the configuration.
type server struct {
	types          map[string]*resourceType
	providerSchema *tfprotov6.Schema
	config         config
}

// config is the provider's configuration, decoded from the arguments by ConfigureProvider.
type config struct {
	unknown bool      // some part was not known
	region  cty.Value // string; may be null or unknown
	store   *Store    // nil without
	panicOn string
}

var _ tfprotov6.ProviderServer = (*server)(nil)

// New returns an instance of the provider that has yet to be configured.
func New() tfprotov6.ProviderServer {
	return &server{
		types:          resourceTypes(),
		providerSchema: providerSchema(),
		config:         config{region: cty.NullVal(cty.String)},
	}
}

func providerSchema() *tfprotov6.Schema {
	return schemaOf(nestedBlocks(), append(plainAttributes(),
		attribute("region", tftypes.String, optional),
		attribute("token", tftypes.String, optional|sensitive),
		attribute("store", tftypes.String, optional),
		attribute("authentication", tftypes.String, optional|sensitive),
		attribute("require_auth", tftypes.Bool, optional),
		attribute("configure_error", tftypes.String, optional),
		attribute("panic_on", tftypes.String, optional),
		attribute("ignored", tftypes.String, optional),
	)...)
}

func capabilities() *tfprotov6.ServerCapabilities {
	return &tfprotov6.ServerCapabilities{
		GetProviderSchemaOptional: true,
		MoveResourceState:         true,
		PlanDestroy:               true,
		GenerateResourceConfig:    true,
	}
}

func (s *server) GetMetadata(context.Context, *tfprotov6.GetMetadataRequest) (*tfprotov6.GetMetadataResponse, error) {
	record(Call{RPC: "GetMetadata"})
	resp := &tfprotov6.GetMetadataResponse{
		ServerCapabilities: capabilities(),
		DataSources:        dataSourceNames(),
		EphemeralResources: []tfprotov6.EphemeralResourceMetadata{{TypeName: ephemeralName}},
		Functions:          []tfprotov6.FunctionMetadata{{Name: functionName}},
		Actions:            []tfprotov6.ActionMetadata{{TypeName: actionName}},
		ListResources:      []tfprotov6.ListResourceMetadata{{TypeName: listName}},
	}
	for name := range s.types {
		resp.Resources = append(resp.Resources, tfprotov6.ResourceMetadata{TypeName: name})
	}
	return resp, nil
}

func (s *server) GetProviderSchema(context.Context, *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	record(Call{RPC: "GetProviderSchema"})
	resp := &tfprotov6.GetProviderSchemaResponse{
		ServerCapabilities:       capabilities(),
		Provider:                 s.providerSchema,
		ResourceSchemas:          make(map[string]*tfprotov6.Schema),
		DataSourceSchemas:        dataSources(),
		EphemeralResourceSchemas: map[string]*tfprotov6.Schema{ephemeralName: ephemeralSchema()},
		Functions:                map[string]*tfprotov6.Function{functionName: echoFunction()},
		ActionSchemas:            map[string]*tfprotov6.ActionSchema{actionName: actionSchema()},
		ListResourceSchemas:      map[string]*tfprotov6.Schema{listName: listSchema()},
	}
	for name, t := range s.types {
		resp.ResourceSchemas[name] = t.schema
	}
	return resp, nil
}

func (s *server) GetResourceIdentitySchemas(
	context.Context, *tfprotov6.GetResourceIdentitySchemasRequest,
) (*tfprotov6.GetResourceIdentitySchemasResponse, error) {
	record(Call{RPC: "GetResourceIdentitySchemas"})
	resp := &tfprotov6.GetResourceIdentitySchemasResponse{
		IdentitySchemas: make(map[string]*tfprotov6.ResourceIdentitySchema),
	}
	for name, t := range s.types {
		if t.identity != nil {
			resp.IdentitySchemas[name] = t.identity
		}
	}
	return resp, nil
}

func (s *server) ValidateProviderConfig(
	_ context.Context, req *tfprotov6.ValidateProviderConfigRequest,
) (*tfprotov6.ValidateProviderConfigResponse, error) {
	args, err := s.recordConfig("ValidateProviderConfig", req.Config)
	if err != nil {
		return nil, err
	}
	diags := refusedNames(args)
	if stringArgument(args, "region") == Outdated {
		diags = append(diags, outdated("region"))
	}
	return &tfprotov6.ValidateProviderConfigResponse{PreparedConfig: req.Config, Diagnostics: diags}, nil
}

// refusedNames are the errors about names in nested blocks, each with the place of the name.
func refusedNames(args cty.Value) []*tfprotov6.Diagnostic {
	var diags []*tfprotov6.Diagnostic
	if block := args.GetAttr("single_block"); stringArgument(block, "name") == Refused {
		path := tftypes.NewAttributePath().WithAttributeName("single_block").WithAttributeName("name")
		diags = append(diags, refusal(path))
	}
	blocks := args.GetAttr("list_block")
	if !blocks.IsKnown() || blocks.IsNull() {
		return diags
	}
	for i, block := range blocks.AsValueSlice() {
		if stringArgument(block, "name") == Refused {
			path := tftypes.NewAttributePath().WithAttributeName("list_block").WithElementKeyInt(i).WithAttributeName("name")
			diags = append(diags, refusal(path))
		}
	}
	return diags
}

// judged are the diagnostics about an argument of a configuration that is validated.
func judged(args cty.Value, name string) []*tfprotov6.Diagnostic {
	path := tftypes.NewAttributePath().WithAttributeName(name)
	switch stringArgument(args, name) {
	case Refused:
		said := refusal(path)
		said.Summary = "Argument refused"
		return []*tfprotov6.Diagnostic{said}
	case Outdated:
		return []*tfprotov6.Diagnostic{outdated(name)}
	default:
		return nil
	}
}

func outdated(name string) *tfprotov6.Diagnostic {
	return &tfprotov6.Diagnostic{
		Severity: tfprotov6.DiagnosticSeverityWarning, Summary: "Argument outdated", Detail: "Another " + name + " will be needed.",
		Attribute: tftypes.NewAttributePath().WithAttributeName(name),
	}
}

func refusal(path *tftypes.AttributePath) *tfprotov6.Diagnostic {
	return &tfprotov6.Diagnostic{
		Severity:  tfprotov6.DiagnosticSeverityError,
		Summary:   "Provider configuration refused",
		Detail:    fmt.Sprintf("There is no %s like that.", path.LastStep()),
		Attribute: path,
	}
}

func (s *server) ConfigureProvider(
	_ context.Context, req *tfprotov6.ConfigureProviderRequest,
) (*tfprotov6.ConfigureProviderResponse, error) {
	args, err := s.recordConfig("ConfigureProvider", req.Config)
	if err != nil {
		return nil, err
	}
	s.config = config{
		unknown: !args.IsWhollyKnown(),
		region:  args.GetAttr("region"),
		store:   storeOf(args),
		panicOn: stringArgument(args, "panic_on"),
	}
	if s.config.panicOn == "configure" {
		panic("panic_on = \"configure\": the fake provider was asked to crash here")
	}
	resp := new(tfprotov6.ConfigureProviderResponse)
	if err := configureError(args); err != nil {
		resp.Diagnostics = append(resp.Diagnostics, errorDiagnostic("Provider configuration failed", err))
	}
	if stringArgument(args, "region") == Refused {
		resp.Diagnostics = append(resp.Diagnostics, refusal(tftypes.NewAttributePath().WithAttributeName("region")))
	}
	return resp, nil
}

// recordConfig records a call with a configuration of the provider, and returns that.
func (s *server) recordConfig(rpc string, config *tfprotov6.DynamicValue) (cty.Value, error) {
	args, err := decode(config, valueType(s.providerSchema.ValueType()))
	if err != nil {
		return cty.NilVal, err
	}
	raw, unknown, err := knownJSON(args)
	if err != nil {
		return cty.NilVal, err
	}
	record(Call{RPC: rpc, Config: raw, Unknown: unknown})
	return args, nil
}

func storeOf(args cty.Value) *Store {
	dir := stringArgument(args, "store")
	if dir == "" {
		dir = os.Getenv(StoreVariable)
	}
	if dir == "" {
		return nil
	}
	return &Store{Dir: dir}
}

// configureError returns the reason for which the arguments are refused. Unknown values are
// accepted.
func configureError(args cty.Value) error {
	if msg := stringArgument(args, "configure_error"); msg != "" {
		return errors.New(msg)
	}
	auth := args.GetAttr("authentication")
	if boolArgument(args, "require_auth") && auth.IsKnown() && stringArgument(args, "authentication") != ExpectedAuthentication {
		return errors.New("require_auth is true and authentication has another value than it must have")
	}
	return nil
}

// StopProvider has nothing to do: the protocol library ends the contexts of all running requests by
// itself.
func (s *server) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	record(Call{RPC: "StopProvider"})
	return new(tfprotov6.StopProviderResponse), nil
}
