// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"slices"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// PlanFlags are the options of all commands that make a plan.
type PlanFlags struct {
	variableFlags
	destroy     bool
	refreshOnly bool
	refresh     bool
	replace     cmdline.List
	target      cmdline.List
	exclude     cmdline.List
	invoke      cmdline.List
	parallelism cmdline.Count
	maxRounds   cmdline.Count // of applies
	concise     bool

	acceptRecovery bool
}

func (o *PlanFlags) register(f *session.Flags) {
	o.variableFlags.register(f)
	f.BoolVar(&o.refreshOnly, "refresh-only", false, "only bring the state up to date with the existing objects")
	f.BoolVar(&o.refresh, "refresh", true, "`false` takes the state for the truth instead of reading the existing objects")
	f.Var(&o.replace, "replace", "replace this resource instance: `component.x.ADDRESS`; may be repeated")
	f.Var(&o.target, "target", "plan only this component and those it requires: `component.x`; may be repeated")
	f.Var(&o.exclude, "exclude", "leave out this component and those that require it: `component.x`; may be repeated")
	f.Var(&o.invoke, "invoke", "only invoke this action: `component.x.action.ADDRESS`; may be repeated. For one that refers to its "+
		"caller, -target=component.x.ADDRESS chooses the callers")
	ConciseFlag(f, &o.concise)
	f.Var(&o.parallelism, "parallelism", "work on at most `N` components at the same time")
	f.BoolVar(&o.acceptRecovery, "accept-recovery", false,
		"go on although an apply that was cut off may have made changes that the state does not show, if an earlier command has named them")
	session.DeploymentsFlags(f)
	session.ProviderFlags(f)
}

// ShownConcisely returns the usual options, with or without lines for unchanged objects.
func ShownConcisely(concise bool) *PlanFlags { return &PlanFlags{concise: concise} }

// ConciseFlag adds the option that leaves out lines for unchanged objects.
func ConciseFlag(f *session.Flags, concise *bool) {
	f.BoolVar(concise, "concise", false, "leave out lines for unchanged objects, as for the logs of CI")
}

// mode returns the kind of plan that is asked for.
func (o *PlanFlags) mode() (engine.Mode, error) {
	switch {
	case len(o.invoke) > 0 && (o.destroy || o.refreshOnly || len(o.replace)+len(o.exclude) > 0):
		return 0, failure.Error("Conflicting options",
			"With -invoke nothing but actions is planned: there is no -destroy, -refresh-only, -replace or -exclude beside it.")
	case len(o.invoke) > 0:
		return engine.Invoke, nil
	case o.destroy && o.refreshOnly:
		return 0, failure.Error("Conflicting options", "With -destroy there is no -refresh-only: give only one of them.")
	case o.refreshOnly && !o.refresh:
		return 0, failure.Error("Conflicting options", "With -refresh-only there is no -refresh=false: give only one of them.")
	case len(o.replace) > 0 && (o.destroy || o.refreshOnly):
		return 0, failure.Error("Conflicting options",
			"Only ordinary plans can replace resources: -replace cannot be combined with -destroy or -refresh-only.")
	case o.destroy:
		return engine.Destroy, nil
	case o.refreshOnly:
		return engine.RefreshOnly, nil
	}
	return engine.Normal, nil
}

// replacements returns the resource instances to replace, by component.
func (o *PlanFlags) replacements() (map[stackaddrs.AbsComponentInstance][]string, error) {
	result := map[stackaddrs.AbsComponentInstance][]string{}
	for _, text := range o.replace {
		addr, err := stackaddrs.ParseAbsResourceInstance(text)
		if err != nil {
			return nil, failure.Error("Invalid resource address",
				"The option -replace needs the address of a resource instance in a component, like component.x.aws_instance.y[0], and not %q.", text)
		}
		result[addr.Component] = append(result[addr.Component], addr.Item.String())
	}
	for component, addresses := range result {
		slices.Sort(addresses)
		result[component] = slices.Compact(addresses)
	}
	return result, nil
}

// requested returns the actions to invoke, by component, with the callers that -target chooses.
func (o *PlanFlags) requested() (map[stackaddrs.AbsComponentInstance]engine.Requested, error) {
	result := map[stackaddrs.AbsComponentInstance]engine.Requested{}
	for _, text := range o.invoke {
		addr, err := stackaddrs.ParseAbsActionInstance(text)
		if err != nil {
			return nil, failure.Error("Invalid action address",
				"The option -invoke needs the address of an action in a component, like component.x.action.aws_lambda_invoke.y, and not %q.", text)
		}
		requested := result[addr.Component]
		requested.Actions = append(requested.Actions, addr.Item)
		result[addr.Component] = requested
	}
	for _, text := range o.target {
		addr, err := stackaddrs.ParseAbsResourceInstance(text)
		requested, invoked := result[addr.Component]
		if err != nil || !invoked {
			return nil, failure.Error("Invalid target", "With -invoke, the option -target needs the address of a resource in the component of an "+
				"action that is invoked, like component.x.aws_instance.y[0], and not %q.", text)
		}
		requested.Callers = append(requested.Callers, addr.Item)
		result[addr.Component] = requested
	}
	return result, nil
}

// components parses the addresses that an option was given.
func (o *PlanFlags) components(option string, given cmdline.List) ([]stackaddrs.AbsComponentInstance, error) {
	var addrs []stackaddrs.AbsComponentInstance
	for _, text := range given {
		addr, err := stackaddrs.ParseAbsComponentInstance(text)
		if err != nil {
			return nil, failure.Error("Invalid component address",
				"The option %s needs the address of a component, like component.x or stack.a.component.x[\"key\"], and not %q.", option, text)
		}
		addrs = append(addrs, addr)
	}
	return addrs, nil
}

// isDefault reports whether no option was given that makes a difference for a plan which already
// exists.
func (o *PlanFlags) isDefault() bool {
	return !o.destroy && !o.refreshOnly && o.refresh && len(o.replace)+len(o.target)+len(o.exclude)+len(o.invoke) == 0
}
