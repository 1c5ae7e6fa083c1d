// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/cairnstacks/cairn/internal/views/diagnostic"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// failedChecks returns the instances of checkable objects that fail, sorted by address.
func failedChecks(checks []tfjson.CheckResultStatic) []tfjson.CheckResultDynamic {
	var failed []tfjson.CheckResultDynamic
	for _, check := range checks {
		for _, instance := range check.Instances {
			if instance.Status == tfjson.CheckStatusFail || instance.Status == tfjson.CheckStatusError {
				failed = append(failed, instance)
			}
		}
	}
	slices.SortStableFunc(failed, func(a, b tfjson.CheckResultDynamic) int {
		return strings.Compare(a.Address.ToDisplay, b.Address.ToDisplay)
	})
	return failed
}

const failedChecksTitle = "Checks that fail:"

// failedCheck writes one of them, with its messages.
func (p *page) failedCheck(prefix string, instance tfjson.CheckResultDynamic) {
	status := ""
	if instance.Status == tfjson.CheckStatusError {
		status = " (could not be checked)"
	}
	p.printf("  %s%s%s\n", prefix, textstyle.Clean(instance.Address.ToDisplay), status)
	for _, problem := range instance.Problems {
		for _, line := range textstyle.Wrap(textstyle.Clean(problem.Message), max(p.columns-4, 20)) {
			p.printf("    %s\n", line)
		}
	}
}

// checks lists the checks of a plan that fail. They stop nothing, or there would be no plan.
func (v *planView) checks() {
	title := false
	for _, c := range v.plan.Components {
		for _, instance := range failedChecks(c.Checks) {
			if v.isReported(c, instance) {
				continue
			}
			if !title {
				v.printf("%s\n", v.Bold(v.Yellow(failedChecksTitle)))
				title = true
			}
			v.failedCheck(c.Addr.String()+": ", instance)
		}
	}
	if title {
		v.printf("\n")
	}
}

// isReported reports whether diagnostics about the component say all that a failing check says.
func (v *planView) isReported(c *stackplan.Component, instance tfjson.CheckResultDynamic) bool {
	unsaid := func(problem tfjson.CheckResultProblem) bool {
		return !slices.ContainsFunc(v.reported, func(diag *hcl.Diagnostic) bool {
			about, ok := hcl.DiagnosticExtra[diagnostic.Addressed](diag)
			return ok && about.Address() == c.Addr.String() && strings.Contains(diag.Detail, problem.Message)
		})
	}
	return len(instance.Problems) > 0 && !slices.ContainsFunc(instance.Problems, unsaid)
}

// stateChecks lists the checks of a component that failed when it was last applied.
func (p *page) stateChecks(checks []tfjson.CheckResultStatic) {
	failed := failedChecks(checks)
	if len(failed) == 0 {
		return
	}
	p.section(failedChecksTitle)
	for _, instance := range failed {
		p.failedCheck("", instance)
	}
	p.printf("\n")
}
