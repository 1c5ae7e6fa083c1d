// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/telemetry"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// traced begins the span of an operation. The caller ends it with the diagnostics of that.
func traced(ctx context.Context, s *Stack, name string) (context.Context, func(hcl.Diagnostics)) {
	if telemetry.From(ctx) == nil {
		return ctx, func(hcl.Diagnostics) {}
	}
	deployment, _ := s.sources.Deployment() //nolint:errcheck // the operation reports it
	ctx, span := telemetry.Operation(ctx, name, pathOf(s.env), deployment)
	return ctx, span.EndWith
}

// pathOf names a stack by its path from the top of its repository, or else by its directory.
func pathOf(e *env.Env) string {
	home := env.Absolute(e.Home)
	if top := e.WorkspaceDir(); top != "" {
		if path, err := filepath.Rel(env.Absolute(top), home); err == nil && filepath.IsLocal(path) && path != "." {
			return filepath.ToSlash(path)
		}
	}
	return filepath.Base(home)
}

// tracedHooks adds spans and counts of a phase to hooks, where somebody receives them.
func tracedHooks(ctx context.Context, phase string, watch hooks.Hooks) hooks.Hooks {
	if telemetry.From(ctx) == nil {
		return watch
	}
	watch.ComponentWork = hooks.WorkFunc(telemetry.Work).Within(watch.ComponentWork)
	planned, applied, status := watch.ComponentPlanned, watch.ComponentApplied, watch.ComponentStatus
	watch.ComponentPlanned = func(plan *stackplan.Component) {
		if phase == planName {
			telemetry.CountComponent(ctx, phase, string(plan.Action))
			countResources(ctx, phase, plan.Counts())
		}
		if planned != nil {
			planned(plan)
		}
	}
	watch.ComponentApplied = func(component stackaddrs.AbsComponentInstance, counts stackplan.Counts) {
		countResources(ctx, phase, counts)
		if applied != nil {
			applied(component, counts)
		}
	}
	watch.ComponentStatus = func(component stackaddrs.AbsComponentInstance, now hooks.Status) {
		switch now {
		case hooks.Applied, hooks.Failed, hooks.Interrupted, hooks.Skipped, hooks.Deferred:
			if phase != planName || now == hooks.Failed { // plans count by their action
				telemetry.CountComponent(ctx, phase, string(now))
			}
		case hooks.Pending, hooks.Planning, hooks.Planned, hooks.Applying:
		}
		if status != nil {
			status(component, now)
		}
	}
	return watch
}

func countResources(ctx context.Context, phase string, counts stackplan.Counts) {
	for _, one := range []struct {
		action string
		number int
	}{
		{"add", counts.Add},
		{"change", counts.Change},
		{"remove", counts.Remove},
		{"import", counts.Import},
		{"move", counts.Move},
		{"forget", counts.Forget},
		{"defer", counts.Defer},
		{"invoke", counts.Invoke},
		{"invoke_failed", counts.InvokeFailed},
	} {
		telemetry.CountResources(ctx, phase, one.action, one.number)
	}
}
