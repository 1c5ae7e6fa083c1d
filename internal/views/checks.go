// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/views/diagnostic"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// failedChecks returns the instances of checkable objects that fail, sorted by address.
func failedChecks(checks []engine.CheckResult) []engine.CheckedObject {
	var failed []engine.CheckedObject
	for _, check := range checks {
		for _, object := range check.Objects {
			if object.Status.Failed() {
				failed = append(failed, object)
			}
		}
	}
	slices.SortStableFunc(failed, func(a, b engine.CheckedObject) int { return strings.Compare(a.Address, b.Address) })
	return failed
}

const failedChecksTitle = "Checks that fail:"

// failedCheck writes one of them, with its messages.
func (p *page) failedCheck(prefix string, object engine.CheckedObject) {
	status := ""
	if object.Status == engine.CheckError {
		status = " (could not be checked)"
	}
	p.printf("  %s%s%s\n", prefix, textstyle.Clean(object.Address), status)
	for _, message := range object.Messages {
		for _, line := range textstyle.Wrap(textstyle.Clean(message), max(p.columns-4, 20)) {
			p.printf("    %s\n", line)
		}
	}
}

// checks lists the checks of a plan that fail. They stop nothing, or there would be no plan.
func (v *planView) checks() {
	title := false
	for _, c := range v.plan.Components {
		for _, object := range failedChecks(c.Checks) {
			if v.isReported(c, object) {
				continue
			}
			if !title {
				v.printf("%s\n", v.Bold(v.Yellow(failedChecksTitle)))
				title = true
			}
			v.failedCheck(v.checkPrefix(c), object)
		}
	}
	if title {
		v.printf("\n")
	}
}

// checkPrefix names the component of a check.
func (v *planView) checkPrefix(c *stackplan.Component) string {
	if v.module {
		return ""
	}
	return c.Addr.String() + ": "
}

// isReported reports whether diagnostics about the component say all that a failing check says.
func (v *planView) isReported(c *stackplan.Component, object engine.CheckedObject) bool {
	unsaid := func(message string) bool {
		return !slices.ContainsFunc(v.reported, func(diag *hcl.Diagnostic) bool {
			about, ok := hcl.DiagnosticExtra[diagnostic.Addressed](diag)
			return (v.module || ok && about.Address() == c.Addr.String()) && strings.Contains(diag.Detail, message)
		})
	}
	return len(object.Messages) > 0 && !slices.ContainsFunc(object.Messages, unsaid)
}

// stateChecks lists the checks of a component that failed when it was last applied.
func (p *page) stateChecks(checks []engine.CheckResult) {
	failed := failedChecks(checks)
	if len(failed) == 0 {
		return
	}
	p.section(failedChecksTitle)
	for _, object := range failed {
		p.failedCheck("", object)
	}
	p.printf("\n")
}
