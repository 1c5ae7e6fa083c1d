// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/safetext"
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
	p.printf("  %s%s%s\n", prefix, safetext.Clean(object.Address), status)
	for _, message := range object.Messages {
		for _, line := range textstyle.Wrap(safetext.Clean(message), max(p.columns-4, 20)) {
			p.printf("    %s\n", line)
		}
	}
}

// checks lists the checks of a plan that fail. They stop nothing, or there would be no plan.
func (v *planView) checks() {
	title := false
	var reports map[report]bool // made once there is a check that fails
	for _, c := range v.plan.Components {
		about := v.reportedAs(c)
		for _, object := range failedChecks(c.Checks) {
			if reports == nil {
				reports = v.reports()
			}
			if isReported(reports, about, object) {
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

// report is a text that a diagnostic has about a component.
type report struct{ component, text string }

// maxAdded is how many paragraphs engines may add to the message of a check.
const maxAdded = 2

// reports returns what diagnostics say about components, as a set, for there may be hundreds of
// thousands of both diagnostics and checks.
func (v *planView) reports() map[report]bool {
	reports := make(map[report]bool, len(v.reported))
	for _, diag := range v.reported {
		component := ""
		if !v.module {
			about, ok := hcl.DiagnosticExtra[identity.Addressed](diag)
			if !ok {
				continue
			}
			component = about.Address()
		}
		reports[report{component, diag.Detail}] = true
		text := diag.Detail
		for range maxAdded {
			end := strings.LastIndex(text, "\n\n")
			if end < 0 {
				break
			}
			text = text[:end]
			reports[report{component, text}] = true
		}
	}
	return reports
}

// reportedAs returns the component of reports about a component: none where there is only one.
func (v *planView) reportedAs(c *stackplan.Component) string {
	if v.module {
		return ""
	}
	return c.Addr.String()
}

// isReported reports whether diagnostics about the component say all that a failing check says.
func isReported(reports map[report]bool, component string, object engine.CheckedObject) bool {
	unsaid := func(message string) bool { return !reports[report{component, message}] }
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
