// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engines

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Choices are the available engines, and the choice among them for each module.
type Choices struct {
	Native      engine.Info
	Follows     string                 // the minor release of terraform that the native engine behaves like,
	FollowsOld  string                 // for modules that exclude it,
	FollowsTofu string                 // and the one of OpenTofu, for modules of that
	Binaries    []*toolchain.Candidate // in the order in which they are looked at

	Setting string        // that leads to the engine
	Reason  engine.Reason // for the setting

	Modules []ModuleChoice // of the components of the stack, sorted by their directories
}

// ModuleChoice is the engine for the components of a module.
type ModuleChoice struct {
	Source string // of the module, as a component has it
	engine.Choice

	Diags hcl.Diagnostics // with errors no engine does them
}

// List looks at all engines, and at the modules of the stack if there is one that can be read. For
// these, a session is opened.
func (s *Stack) List(ctx context.Context, open func(context.Context) (engine.Session, error)) (*Choices, error) {
	kind := s.Kind()
	search, err := s.Search()
	if err != nil {
		return nil, err
	}
	all, chosen, err := search.All(ctx)
	if err != nil {
		return nil, err
	}
	choices := &Choices{
		Native: engine.Info{Name: Native, Version: native.Version}, Follows: module.Minor(toolchain.NativeTerraform),
		FollowsOld: module.Minor(toolchain.NativeOldest), FollowsTofu: module.Minor(toolchain.NativeTofu),
		Binaries: all, Setting: kind, Reason: s.Reason(),
	}
	if kind == "" {
		if chosen == nil {
			return choices, nil
		}
		choices.Setting = chosen.Info.Name
	}
	config, _ := s.sources.Config() //nolint:errcheck // the commands that need it report it
	if config == nil || len(config.Files) == 0 {
		return choices, nil
	}
	opened, err := open(ctx)
	if err != nil {
		return choices, nil //nolint:nilerr // which is said instead of a version
	}
	sources := map[string]string{}
	config.Walk(func(stack *stackconfig.Stack) {
		for _, component := range stack.Components {
			if dir := component.Source.Dir; sources[dir] == "" || component.Source.Written < sources[dir] {
				sources[dir] = component.Source.Written
			}
		}
	})
	delete(sources, "") // components whose sources cannot be resolved
	dirs := slices.Sorted(maps.Keys(sources))
	abilities := opened.Abilities()
	if abilities.Preparer != nil {
		_ = abilities.Preparer.Unsupported(ctx, dirs) //nolint:errcheck // the choices say so, which may depend on all modules
	}
	for _, dir := range dirs {
		one := ModuleChoice{Source: sources[dir], Choice: engine.Choice{Engine: opened.Info(), Reason: choices.Reason}}
		if abilities.Chooser != nil {
			one.Choice, one.Diags = abilities.Chooser.Choice(ctx, dir)
			one.Reason = cmp.Or(one.Reason, choices.Reason)
		}
		choices.Modules = append(choices.Modules, one)
	}
	return choices, nil
}
