// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/internal/tfengine"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// execution is a plan or an apply while it is carried out.
type execution struct {
	*session
	flags *planFlags
	name  string // plan, apply, destroy
	view  *display

	config *stackconfig.Config
	opts   stackruntime.Options
	given  variables.Given
	stored *deployment.Stored
	round  int // of apply, from 1; 0 with a saved plan

	unsaved bool // what was done is not in the state

	recovered []*tfengine.Recovered // saved, to be said until the operation is finished
	secret    []byte                // of the state, by which it knows applies
	runs      string                // directory in which applies are recorded until they are saved
}

func (s *session) newExecution(name string, flags *planFlags) *execution {
	view := s.newDisplay(name)
	view.concise = flags.concise
	return &execution{session: s, flags: flags, name: name, view: view}
}

// load reads the configuration and gets the engine ready. All mistakes are reported together.
func (o *execution) load(ctx context.Context) hcl.Diagnostics {
	opts, diags := o.stack().Load(ctx)
	o.config = opts.Config
	if o.config != nil {
		given, moreDiags := variables.Read(o.config.Root.Variables, o.flags.arguments, o.files)
		o.given = given
		diags = diags.Extend(moreDiags)
	}
	if diags.HasErrors() {
		return diags
	}
	opts.Parallelism = int(o.flags.parallelism)
	if opts.Parallelism == 0 {
		read, err := o.stack().Settings()
		if err != nil {
			return diags.Extend(asDiagnostics(err))
		}
		opts.Parallelism = read.Parallelism
	}
	o.opts = opts
	return diags
}

// askMissing asks for variables that have no value yet, where there is someone to ask.
func (o *execution) askMissing(ctx context.Context, needed []*stackconfig.InputVariable, given variables.Given) hcl.Diagnostics {
	if !o.flags.input || o.options.json || !o.inputIsTerminal() {
		return nil // the evaluator reports all of them
	}
	return o.askVariables(ctx, needed, given)
}

// plan makes a plan on the stored state.
func (o *execution) plan(ctx context.Context) (*stackplan.Plan, hcl.Diagnostics) {
	mode, err := o.flags.mode()
	if err != nil {
		return nil, asDiagnostics(err)
	}
	replace, err := o.flags.replacements()
	if err != nil {
		return nil, asDiagnostics(err)
	}
	targets, err := o.flags.components("-target", o.flags.target)
	if err != nil {
		return nil, asDiagnostics(err)
	}
	excludes, err := o.flags.components("-exclude", o.flags.exclude)
	if err != nil {
		return nil, asDiagnostics(err)
	}
	var plan *stackplan.Plan
	var diags hcl.Diagnostics
	o.view.during("plan", func(watch hooks.Hooks) {
		opts := o.opts
		opts.Hooks = o.logged(watch)
		plan, diags = stackruntime.Plan(ctx, stackruntime.PlanRequest{
			Options:     opts,
			Mode:        mode,
			Inputs:      o.given.Values,
			Prior:       o.stored.State,
			SkipRefresh: !o.flags.refresh,
			Replace:     replace,
			Targets:     targets,
			Excludes:    excludes,
		})
	})
	if !wasInterrupted(ctx) {
		diags = diags.Extend(o.stack().OtherMistakes(ctx, o.opts, diags))
	}
	if plan != nil && plan.Mode == engine.Destroy && isEmptyState(o.stored.State) {
		plan.Components = nil // they are to be destroyed, but nothing of them exists
	}
	if len(targets)+len(excludes) > 0 && !diags.HasErrors() {
		diags = diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagWarning,
			Summary:  "Only part of the stack is planned",
			Detail:   "With -target or -exclude, what is left out stays as it is, and root outputs may be out of date. This is for getting out of trouble; plan without these options after it.",
		})
	}
	if plan == nil {
		return nil, diags
	}
	return plan, diags.Extend(nothingToReplace(replace, o.stored.State.Renamed(plan.Moved)))
}

// nothingToReplace warns of resource instances to replace that the state does not have.
func nothingToReplace(replace map[stackaddrs.AbsComponentInstance][]string, state *stackstate.State) hcl.Diagnostics {
	var diags hcl.Diagnostics
	warn := func(detail string, args ...any) {
		diags = diags.Append(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Nothing to replace", Detail: fmt.Sprintf(detail, args...)})
	}
	for _, addr := range slices.SortedFunc(maps.Keys(replace), stackaddrs.AbsComponentInstance.Compare) {
		component := state.Components[addr]
		if component == nil {
			warn("The option -replace names a resource of %s, which the state does not have.", addr)
			continue
		}
		objects, err := tfstate.ParseObjects(component.Module)
		if err != nil {
			continue // planning says what is wrong with it
		}
		known := make([]string, len(objects))
		for i, object := range objects {
			known[i] = object.Addr.String()
		}
		for _, resource := range replace[addr] {
			if !slices.Contains(known, resource) {
				warn("The option -replace names %s.%s, which the state does not have.%s",
					addr, resource, didYouMean(resource, known, addr.String()+"."))
			}
		}
	}
	return diags
}

// target is what a plan is made for, and applied to.
func (o *execution) target(stored *deployment.Stored) planfile.Target {
	return planfile.Target{Config: o.config, Engine: o.opts.Engine.Info(), Deployment: stored.Deployment, Lineage: stored.Lineage, Serial: stored.Serial}
}

func isEmptyState(state *stackstate.State) bool {
	return len(state.Components) == 0 && len(state.Inputs) == 0 && len(state.Outputs) == 0
}

// interrupted tells of an operation that was interrupted before anything was changed.
func (o *execution) interrupted(ctx context.Context, diags hcl.Diagnostics) hcl.Diagnostics {
	if !wasInterrupted(ctx) {
		return diags
	}
	return hcl.Diagnostics{problem("Interrupted", "Planning was interrupted. %s", o.untouched())}
}

// planEmpty tells whether there is nothing to apply.
func planEmpty(plan *stackplan.Plan) bool { return views.PlanIsEmpty(plan) }

// dropsObjects reports whether a plan, though it may change nothing, takes objects out of the state: data sources that a
// module no longer has, and resources that both the module and the world have lost.
func dropsObjects(plan *stackplan.Plan, state *stackstate.State) bool {
	return slices.ContainsFunc(plan.Components, func(c *stackplan.Component) bool {
		prior := state.Components[c.Addr]
		if prior == nil || len(c.EnginePlan) > 0 || len(c.RefreshedState) == 0 {
			return false
		}
		before, err := tfstate.ParseObjects(prior.Module)
		if err != nil {
			return false // the plan could not have been made
		}
		after, err := tfstate.ParseObjects(c.RefreshedState)
		if err != nil {
			return false
		}
		type object struct {
			addr    stackaddrs.ResourceInstance
			deposed stackaddrs.DeposedKey
		}
		kept := make(map[object]bool, len(after))
		for _, o := range after {
			kept[object{o.Addr, o.Deposed}] = true
		}
		return slices.ContainsFunc(before, func(o tfstate.Object) bool { return !kept[object{o.Addr, o.Deposed}] })
	})
}

// applyInputs are the values to apply a plan file with: of ephemeral variables, of those that were not known while
// planning, and what was given by an option.
func (o *execution) applyInputs(plan *stackplan.Plan) variables.Given {
	inputs := variables.Given{Values: maps.Clone(o.given.Values), Explicit: o.given.Explicit, Unknown: o.given.Unknown}
	for name := range o.given.Values {
		declared, planned := o.config.Root.Variables[name], plan.Inputs[name]
		if !declared.Ephemeral && !o.given.Explicit[name] && (planned == nil || !planned.IsUnknown()) {
			delete(inputs.Values, name)
		}
	}
	return inputs
}

// modeName says what a plan does.
func modeName(mode engine.Mode) string {
	if mode == engine.Destroy {
		return "destroy"
	}
	return "apply"
}
