// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"context"

	"github.com/hashicorp/go-slug/sourceaddrs"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// FindStackConfigurationComponents implements [stackspb.StacksServer].
func (s *Service) FindStackConfigurationComponents(
	_ context.Context, req *stackspb.FindStackConfigurationComponents_Request,
) (*stackspb.FindStackConfigurationComponents_Response, error) {
	config, err := s.configuration(req.GetStackConfigHandle())
	if err != nil {
		return nil, err
	}
	described, err := describer{config}.stack(config.config.Root, config.sources.Root())
	if err != nil {
		return nil, status.Errorf(codes.Internal, "the configuration cannot be described: %s", err)
	}
	return &stackspb.FindStackConfigurationComponents_Response{Config: described}, nil
}

// describer makes messages of declarations. Sources in them are final.
type describer struct{ *configuration }

// stack describes a stack and all that are embedded in it. Its own source is where those that are
// written in it start.
func (d describer) stack(
	stack *stackconfig.Stack, source sourceaddrs.FinalSource,
) (*stackspb.FindStackConfigurationComponents_StackConfig, error) {
	described := &stackspb.FindStackConfigurationComponents_StackConfig{
		Components:     map[string]*stackspb.FindStackConfigurationComponents_Component{},
		EmbeddedStacks: map[string]*stackspb.FindStackConfigurationComponents_EmbeddedStack{},
		InputVariables: map[string]*stackspb.FindStackConfigurationComponents_InputVariable{},
		OutputValues:   map[string]*stackspb.FindStackConfigurationComponents_OutputValue{},
		Removed:        map[string]*stackspb.FindStackConfigurationComponents_Removed{},
	}
	for name, variable := range stack.Variables {
		described.InputVariables[name] = &stackspb.FindStackConfigurationComponents_InputVariable{
			Optional:  variable.Default != cty.NilVal && !variable.Default.IsNull(),
			Sensitive: variable.Sensitive,
			Ephemeral: variable.Ephemeral,
		}
	}
	for name, output := range stack.Outputs {
		described.OutputValues[name] = &stackspb.FindStackConfigurationComponents_OutputValue{
			Sensitive: output.Sensitive,
			Ephemeral: output.Ephemeral,
		}
	}
	for name, component := range stack.Components {
		from, err := d.sources.Follow(source, component.Source)
		if err != nil {
			return nil, err
		}
		described.Components[name] = &stackspb.FindStackConfigurationComponents_Component{
			SourceAddr:    from.String(),
			Instances:     instances(component.ForEach),
			ComponentAddr: stackaddrs.ConfigComponent{Stack: stack.Addr, Item: stackaddrs.Component{Name: name}}.String(),
		}
	}
	for name, call := range stack.Calls {
		embedded, err := d.embedded(stack.Children[name], source, call)
		if err != nil {
			return nil, err
		}
		described.EmbeddedStacks[name] = embedded
	}
	return described, d.removed(described.Removed, stack, source)
}

func (d describer) embedded(
	child *stackconfig.Stack, source sourceaddrs.FinalSource, call *stackconfig.StackCall,
) (*stackspb.FindStackConfigurationComponents_EmbeddedStack, error) {
	from, err := d.sources.Follow(source, call.Source)
	if err != nil {
		return nil, err
	}
	content, err := d.stack(child, from)
	return &stackspb.FindStackConfigurationComponents_EmbeddedStack{
		SourceAddr: from.String(),
		Instances:  instances(call.ForEach),
		Config:     content,
	}, err
}

// removed adds the removed blocks of a stack that name components. One that names a stack has none.
func (d describer) removed(
	into map[string]*stackspb.FindStackConfigurationComponents_Removed, stack *stackconfig.Stack, source sourceaddrs.FinalSource,
) error {
	for _, block := range stack.Removed {
		if block.From.Component == nil {
			continue
		}
		from, err := d.sources.Follow(source, block.Source)
		if err != nil {
			return err
		}
		described := &stackspb.FindStackConfigurationComponents_Removed_Block{
			SourceAddr:    from.String(),
			Instances:     instances(block.ForEach),
			ComponentAddr: removedAddr(stack.Addr, block.From).String(),
			Destroy:       block.Destroy,
		}
		key := removedAddr(stackaddrs.RootStack, block.From).String()
		if into[key] == nil {
			into[key] = &stackspb.FindStackConfigurationComponents_Removed{ // of the first block, for clients that know no others
				SourceAddr:    described.GetSourceAddr(),    //nolint:staticcheck // as above
				Instances:     described.GetInstances(),     //nolint:staticcheck // as above
				ComponentAddr: described.GetComponentAddr(), //nolint:staticcheck // as above
				Destroy:       described.GetDestroy(),       //nolint:staticcheck // as above
			}
		}
		into[key].Blocks = append(into[key].Blocks, described)
	}
	return nil
}

// removedAddr is the component that a removed block in a stack names.
func removedAddr(stack stackaddrs.Stack, from *stackconfig.RemovedFrom) stackaddrs.ConfigComponent {
	for _, step := range from.Stacks {
		stack = stack.Child(step.Name)
	}
	return stackaddrs.ConfigComponent{Stack: stack, Item: stackaddrs.Component{Name: from.Component.Name}}
}

func instances(forEach hcl.Expression) stackspb.FindStackConfigurationComponents_Instances {
	if forEach == nil {
		return stackspb.FindStackConfigurationComponents_SINGLE
	}
	return stackspb.FindStackConfigurationComponents_FOR_EACH
}
