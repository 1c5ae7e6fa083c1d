// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Check is a check block in a module instance.
type Check struct {
	Module *Module
	Config *module.Check
}

// Run evaluates the assertions. Nothing of it is an error.
func (c *Check) Run(ctx context.Context) {
	of := conditionOf{
		kind: engine.CheckBlock, block: c.Module.staticPrefixed("check." + c.Config.Name), object: c.Module.prefixed("check." + c.Config.Name),
		summary: "Check block assertion failed", warn: true,
	}
	for _, rule := range c.Config.Assertions {
		status, message, ok := c.Module.evalCondition(ctx, rule, Place{check: c.Config}, of)
		c.Module.eval.Checks.Record(of.kind, of.block, of.object, status, message)
		if ok && status == engine.CheckUnknown && c.Module.eval.opts.Conditions != IgnoreConditions && c.Module.eval.opts.Phase == Plan &&
			!c.Module.eval.Checks.lacksData(of.object) {
			c.Module.eval.Diagnostics.Add(failure.WarningAt(rule.Condition.Range(), "Check block assertion known after apply",
				"The condition depends on values that are known after apply only."))
		}
	}
}

// FailCheck notes that the check failed that a data source is nested in, since that could not be
// read.
func (r *Resource) FailCheck(message string) {
	name := "check." + r.Config.Check.Name
	checks, object := &r.Module.eval.Checks, r.Module.prefixed(name)
	checks.Record(engine.CheckBlock, r.Module.staticPrefixed(name), object, engine.CheckFail, message)
	checks.mu.Lock()
	defer checks.mu.Unlock()
	if checks.mu.notRead == nil {
		checks.mu.notRead = map[string]bool{}
	}
	checks.mu.notRead[object] = true
}
