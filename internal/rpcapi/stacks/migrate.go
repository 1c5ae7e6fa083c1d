// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/rpcapi/dependencies"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	"github.com/cairnstacks/cairn/internal/rpcapi/migration"
	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// MigrateTerraformState implements [stackspb.StacksServer].
func (s *Service) MigrateTerraformState(
	req *stackspb.MigrateTerraformState_Request, stream grpc.ServerStreamingServer[stackspb.MigrateTerraformState_Event],
) error {
	from, err := handle.Get[*terraformState](s.handles, req.GetStateHandle(), terraformStateHandle)
	if err != nil {
		return err
	}
	config, err := s.configuration(req.GetConfigHandle())
	if err != nil {
		return err
	}
	given := dependencies.Handles{Locks: req.GetDependencyLocksHandle(), Cache: req.GetProviderCacheHandle(), Required: true}
	if req.GetSimple() == nil {
		_, err := s.providers(given) // the first fault counts
		if err == nil {
			err = status.Error(codes.InvalidArgument, "nothing says where the objects of the state go: set a mapping")
		}
		return err
	}
	stack, done, err := s.openWith(config, given, nil)
	if err != nil {
		return err
	}
	defer done()
	m := &migrator{config: config, out: newSender(stream)}
	runtime, diags := stack.Runtime(stream.Context())
	if diags.HasErrors() { // clients take warnings for errors here, and have got those about the configuration
		m.report(diags)
		return m.out.failed()
	}
	m.migrate(stream.Context(), runtime, from, req.GetSimple())
	return m.out.failed()
}

// migrator makes one migration, and sends its results.
type migrator struct {
	config *configuration
	out    *sender[stackspb.MigrateTerraformState_Event]
}

func (m *migrator) report(diags hcl.Diagnostics) {
	for _, diag := range diags {
		message := wire.Diagnostic(diag, m.config.sources.Name)
		m.out.send(&stackspb.MigrateTerraformState_Event{Result: &stackspb.MigrateTerraformState_Event_Diagnostic{Diagnostic: message}})
	}
}

func (m *migrator) migrate(
	ctx context.Context, runtime stackruntime.Options, from *terraformState, mapping *stackspb.MigrateTerraformState_Request_Mapping,
) {
	session := runtime.Session
	result, diags := migration.Run(migration.Request{
		State:       from.document,
		Config:      runtime.Config,
		Resources:   mapping.GetResourceAddressMap(),
		ModuleCalls: mapping.GetModuleAddressMap(),
		Load:        module.NewLoader(module.OptionsOf(session.Info(), m.config.sources.Dir(), m.config.sources).Of(runtime.Config)).Load,
		Requires:    stackruntime.Inspect(stackruntime.InspectRequest{Options: runtime}).ComponentGraph(ctx),
		HasType: func(provider stackaddrs.Provider, resource stackaddrs.Resource) (bool, error) {
			describer := session.Abilities().Types
			if describer == nil {
				return true, nil // the next plan finds out
			}
			ty, err := describer.ResourceType(ctx, provider, resource.Mode, resource.Type)
			return ty != cty.NilType, err
		},
	})
	m.report(diags)
	describer := &stateDescriber{types: &resourceTypes{session: session}}
	var objects, components []*stackspb.AppliedChange
	for _, c := range result.Components {
		messages, err := describeMigrated(ctx, describer, c)
		if err != nil {
			m.out.fail(err)
			return
		}
		last := len(messages) - 1
		objects, components = append(objects, messages[:last]...), append(components, messages[last])
	}
	for _, message := range slices.Concat(objects, components) {
		m.out.send(&stackspb.MigrateTerraformState_Event{Result: &stackspb.MigrateTerraformState_Event_AppliedChange{AppliedChange: message}})
	}
}

// describeMigrated returns the messages of a component instance, of which the last is about itself.
func describeMigrated(ctx context.Context, describer *stateDescriber, c *stackstate.Component) ([]*stackspb.AppliedChange, error) {
	records, err := stackstate.ComponentRecords(nil, c)
	if err != nil {
		return nil, err
	}
	values := recordValues{components: map[stackaddrs.AbsComponentInstance]*stackstate.Component{c.Addr: c}}
	var messages []*stackspb.AppliedChange
	for _, key := range sortedKeys(records) {
		message, err := describer.record(ctx, key, records[key], false, values)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(key, string(stackstate.ComponentKind)) { // unlike those of an apply, outputs are said to be unknown
			outputs, err := wire.Values(c.Outputs)
			if err != nil {
				return nil, err
			}
			message.GetDescriptions()[0].GetComponentInstance().OutputValues = outputs
		}
		messages = append(messages, message)
	}
	return messages, nil
}
