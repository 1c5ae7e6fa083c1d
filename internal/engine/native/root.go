// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Tree returns the modules of a directory as they are written; nil if there are none.
func (s *Session) Tree(dir string) (*module.Tree, hcl.Diagnostics) { return s.modules.Load(dir) }

// RootProviders returns the provider configurations that a root module gives itself by its provider
// blocks, for a plan of it. The session is one of an engine with [Options.Standalone].
//
// Inputs: as in [engine.PlanRequest], but each of any type that converts.
//
// The reason is not empty, and there are no configurations, where these are for another engine to
// find out: where one of them depends on an object, which has no value before it is planned, or on
// something that a component cannot have, either.
func (s *Session) RootProviders(ctx context.Context, dir string, inputs map[string]cty.Value, prior engine.State) (
	given map[engine.ProviderSlot]engine.ProviderConfig, reason string, diags hcl.Diagnostics,
) {
	l := s.load(dir)
	described, _ := s.Module(ctx, dir) //nolint:errcheck // loading reports them, too
	if l.tree == nil || described == nil || l.diags.HasErrors() {
		return nil, "The module cannot be read.", nil
	}
	blocks, reason := providerBlocks(l.tree)
	if reason != "" {
		return nil, reason, nil
	}
	if reason := withoutSlot(described, prior); reason != "" {
		return nil, reason, nil
	}
	evaluation := eval.New(eval.Options{
		Tree: l.tree, Phase: eval.Plan, Inputs: inputs, Conditions: eval.EnforceConditions,
		Functions: s.functions(ctx, nil, dir, functionsKey{}), RootPath: rootPath, WorkPath: s.workPath(),
	})
	given = map[engine.ProviderSlot]engine.ProviderConfig{}
	_, err := promising.MainTask(ctx, func(ctx context.Context) (struct{}, error) {
		for _, name := range slices.SortedFunc(maps.Keys(described.Slots), byName) {
			body := hcl.EmptyBody()
			if block, ok := blocks[name]; ok {
				body = block.Config
			} else if name.Alias != "" {
				reason = "The module has no configuration " + name.String() + " of a provider."
				break
			}
			config, ok := s.rootProvider(ctx, evaluation, described.Slots[name].Provider, name, body)
			if !ok {
				reason = "The configuration of provider " + name.String() + " depends on more than variables and local values."
				break
			}
			given[name] = config
		}
		return struct{}{}, nil
	})
	if err != nil {
		return nil, "", hcl.Diagnostics{stopped("Interrupted planning", err)}
	}
	if reason != "" {
		return nil, reason, nil
	}
	return given, "", evaluation.Diagnostics.All()
}

// rootProvider evaluates the configuration of a provider. It is false if that depends on more than
// variables and local values. Mistakes in it are reported to the evaluation.
func (s *Session) rootProvider(ctx context.Context, evaluation *eval.Evaluation, of stackaddrs.Provider, name engine.ProviderSlot,
	body hcl.Body) (
	config engine.ProviderConfig, ok bool,
) {
	config = engine.ProviderConfig{Provider: of, Instance: rootInstance(of, name)}
	described, err := s.schema(ctx, of)
	if err != nil {
		return config, false
	}
	if described.Config == nil { // as of the built-in provider
		config.Config = cty.EmptyObjectVal
		return config, true
	}
	decoder := s.opts.Shared.Types.Decoder(described.Config)
	references, diags := refs.InTraversals(decoder.Variables(body))
	if diags.HasErrors() || dependsOnObjects(evaluation.Root().Config.Directory, references) {
		return config, false
	}
	scope, ok := evaluation.Root().Scope(ctx, references, eval.Place{})
	if !ok {
		return config, true
	}
	value, diags := decoder.Decode(ctx, body, scope)
	evaluation.Diagnostics.Add(lang.WithholdSecrets(diags, decoder.Variables(body), scope)...)
	config.Config = value
	return config, true
}

func byName(a, b engine.ProviderSlot) int { return strings.Compare(a.String(), b.String()) }

// rootInstance returns an address for the configuration of a slot: those of one session are shared
// by their addresses.
func rootInstance(of stackaddrs.Provider, name engine.ProviderSlot) stackaddrs.AbsProviderConfigInstance {
	return stackaddrs.AbsProviderConfigInstance{Item: stackaddrs.ProviderConfigInstance{
		Config: stackaddrs.ProviderConfig{Provider: of, Name: strings.TrimSuffix("default_"+name.Alias, "_")},
	}}
}

// providerBlocks returns the provider blocks of a root module, or why they are for another engine.
func providerBlocks(tree *module.Node) (blocks map[engine.ProviderSlot]module.ProviderBlock, reason string) {
	blocks = map[engine.ProviderSlot]module.ProviderBlock{}
	for _, block := range tree.Providers {
		if _, twice := blocks[block.Slot]; twice { // as in an override file
			return nil, "There are two blocks for provider " + block.Slot.String() + "."
		}
		blocks[block.Slot] = block
	}
	return blocks, ""
}

// withoutSlot returns why a state is for another engine: it has an object whose provider the module
// does not mention any more, for which terraform takes a default configuration.
func withoutSlot(described *engine.Module, prior engine.State) string {
	objects, err := tfstate.ParseObjects(prior)
	if err != nil {
		return "The state cannot be read."
	}
	for i := range objects {
		config, ok := tfstate.ParseProviderConfig(objects[i].Provider)
		if !ok {
			return "The state has an object with an unknown provider."
		}
		if config.IsOf(stackaddrs.BuiltinProvider) {
			continue
		}
		filled := false
		for name, slot := range described.Slots {
			filled = filled || name.Alias == config.Alias && config.IsOf(slot.Provider)
		}
		if !filled {
			return "The state has an object of a provider that the module does not use any more."
		}
	}
	return ""
}

// dependsOnObjects reports whether something refers to an object or a module call, also by way of
// variables and local values.
func dependsOnObjects(in *module.Directory, references []refs.Reference) bool {
	for ref := range in.Follow(references) {
		switch ref.Subject.Kind {
		case refs.Variable, refs.Local, refs.PathAttr:
		default:
			return true
		}
	}
	return false
}
