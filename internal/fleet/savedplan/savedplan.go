// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package savedplan reads saved plans to show them: of stacks and of root modules, alone or as
// units of a set. Engines and providers are not asked.
package savedplan

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/fleet/planset"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// ValuesOmitted says why the values of a private plan are left out.
const ValuesOmitted = "Values are not shown: only the providers of a root module know which of them are sensitive."

// Plan is a plan that was read from a file.
type Plan struct {
	*stackplan.Plan

	Made stackplan.FileContext // of a stack
	Name string                // of the stack with its deployment, or of the file

	IsRoot  bool   // it is that of a root module, as a stack with nothing but the module
	File    []byte // of a root module, as terraform or tofu has written it
	Private bool   // nobody here knows which of its values are sensitive
}

// Read reads a plan file. The settings of the stack name the keys of an encrypted one.
func Read(ctx context.Context, stack *operation.Stack, path string) (Plan, error) {
	plan, made, err := stack.ReadPlan(ctx, path)
	if planfile.IsOther(err) { // and no plan of a stack that was cut short: the plan of a module is whole in it
		if text, readErr := readFile(ctx, stack, path); readErr == nil {
			if root, rootErr := rootmodule.ReadPlan(text); rootErr == nil {
				return Plan{Plan: root.Plan, Name: fileName(path), IsRoot: true, File: text, Private: root.Private}, nil
			}
		}
	}
	if err != nil {
		return Plan{}, err
	}
	name := cmp.Or(made.Stack, fileName(path))
	if made.Deployment != "" && made.Deployment != settings.DefaultDeployment {
		name += " (" + made.Deployment + ")"
	}
	return Plan{Plan: plan, Made: made, Name: name}, nil
}

// ReadUnit reads the plan of a unit of a set, whose name it has. The stack is that of [StackOf].
func ReadUnit(ctx context.Context, stack *operation.Stack, set *planset.Set, unit *planset.Unit) (Plan, error) {
	plan, err := Read(ctx, stack, filepath.Join(set.Dir, filepath.FromSlash(unit.Plan)))
	plan.Name = unit.Name
	return plan, err
}

// StackOf returns the options of the stack of a unit, whose settings name the keys of its plan.
// Plans of root modules are encrypted as the set is, by those of the stack that the options mean.
// No settings outside of the repository are followed.
func StackOf(options operation.Options, unit *planset.Unit) operation.Options {
	if unit.Module == nil && filepath.IsLocal(filepath.FromSlash(unit.Path)) {
		workspace := env.Open(options.Env).WorkspaceDir()
		options.Env.Dir = filepath.Join(workspace, filepath.FromSlash(unit.Path))
	}
	return options
}

// readFile reads the plan file of a root module.
func readFile(ctx context.Context, stack *operation.Stack, path string) ([]byte, error) {
	file, err := os.ReadFile(path)
	if err != nil || !encryption.IsSealedFile(file) {
		return file, err
	}
	keys, err := stack.Env().Keys()
	if err != nil {
		return nil, err
	}
	return keys.OpenFile(ctx, encryption.PlanFile, "the plan file "+path, file)
}

func fileName(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".plan"), ".tfplan")
}

// Shown returns the plan as it may be shown: a private one without the values of its resources.
func (p *Plan) Shown() *stackplan.Plan {
	if !p.Private {
		return p.Plan
	}
	without := func(change *engine.Change) *engine.Change {
		bare := *change
		bare.Before, bare.After = cty.NullVal(cty.DynamicPseudoType), cty.NullVal(cty.DynamicPseudoType)
		return &bare
	}
	all := func(changes []*engine.Change) []*engine.Change {
		bare := make([]*engine.Change, 0, len(changes))
		for _, change := range changes {
			bare = append(bare, without(change))
		}
		return bare
	}
	copied := *p.Plan
	copied.Components = nil
	for _, component := range p.Components {
		bare := *component
		bare.Changes, bare.Drift, bare.Deferred = all(component.Changes), all(component.Drift), slices.Clone(component.Deferred)
		for i := range bare.Deferred {
			bare.Deferred[i].Change = without(bare.Deferred[i].Change)
		}
		copied.Components = append(copied.Components, &bare)
	}
	return &copied
}
