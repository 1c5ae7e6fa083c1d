// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/views/viewtest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// What a diagnostic says of a failing check is not said again.
func TestFailedChecksAreReportedOnce(t *testing.T) {
	about := func(component, detail string) *hcl.Diagnostic {
		return &hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "Check block assertion failed", Detail: detail,
			Extra: fault.Address{Component: viewtest.Instance(t, component)},
		}
	}
	tests := map[string]struct {
		messages []string
		reported hcl.Diagnostics
		want     bool // the check is listed
	}{
		"reported":             {[]string{"One.\n\nTwo."}, hcl.Diagnostics{about("component.a", "One.\n\nTwo.")}, false},
		"with more paragraphs": {[]string{"One.\n\nTwo."}, hcl.Diagnostics{about("component.a", "One.\n\nTwo.\n\nA place.\n\nA remedy.")}, false},
		"one of two":           {[]string{"One.", "Two."}, hcl.Diagnostics{about("component.a", "One.")}, true},
		"both":                 {[]string{"One.", "Two."}, hcl.Diagnostics{about("component.a", "Two."), about("component.a", "One.")}, false},
		"of another component": {[]string{"One."}, hcl.Diagnostics{about("component.b", "One.")}, true},
		"of no component":      {[]string{"One."}, hcl.Diagnostics{{Severity: hcl.DiagWarning, Detail: "One."}}, true},
		"without a message":    {nil, hcl.Diagnostics{about("component.a", "One.")}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := planOfChecks(t, engine.CheckedObject{Address: "check.c", Status: engine.CheckFail, Messages: test.messages})
			text := planText(t, plan, Options{Reported: test.reported})
			if got := strings.Contains(text, failedChecksTitle); got != test.want {
				t.Errorf("listed: got %t, want %t, in:\n%s", got, test.want, text)
			}
		})
	}
}

// BenchmarkFailedChecks shows that the cost of a check and its warning is the same however many
// there are.
func BenchmarkFailedChecks(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			objects := make([]engine.CheckedObject, n)
			reported := make(hcl.Diagnostics, n)
			for i := range n {
				message := fmt.Sprintf("Wrong number %d.", i)
				objects[i] = engine.CheckedObject{Address: fmt.Sprintf("check.c%d", i), Status: engine.CheckFail, Messages: []string{message}}
				reported[i] = &hcl.Diagnostic{
					Severity: hcl.DiagWarning, Detail: message,
					Extra: fault.Address{Component: viewtest.Instance(b, "component.a")},
				}
			}
			plan := planOfChecks(b, objects...)
			testenv.Measure(b, n, func() {
				if err := WritePlan(io.Discard, plan, Options{Reported: reported}); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

func planOfChecks(t testing.TB, objects ...engine.CheckedObject) *stackplan.Plan {
	t.Helper()
	return &stackplan.Plan{Applyable: true, Complete: true, Components: []*stackplan.Component{{
		Addr: viewtest.Instance(t, "component.a"), Action: stackplan.Create, Complete: true,
		Checks: []engine.CheckResult{{Kind: engine.CheckBlock, Objects: objects}},
	}}}
}
