// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// Diagnostics without end are not all kept, and an error among those left out still counts.
func TestTooManyDiagnostics(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	const line = `{"@level":"warn","type":"diagnostic","diagnostic":{"severity":"warning","summary":"w","detail":"DETAIL"}}`
	for name, test := range map[string]struct {
		detail string
		kept   int
	}{
		"many": {"d", mostDiagnostics},
		"long": {strings.Repeat("x", mostDiagnosticBytes/8), 7},
	} {
		t.Run(name, func(t *testing.T) {
			var c collector
			warning := strings.Replace(line, "DETAIL", test.detail, 1)
			for range test.kept + 5 {
				c.line([]byte(warning))
			}
			c.line([]byte(strings.Replace(warning, `"severity":"warning"`, `"severity":"error"`, 1)))
			c.end()
			if got := len(c.result.Diagnostics); got != test.kept+1 {
				t.Fatalf("%d diagnostics, want %d and one for the others", got, test.kept)
			}
			last := c.result.Diagnostics[test.kept]
			if last.Severity != diagnostic.Error || !strings.HasPrefix(last.Detail, "6 more") {
				t.Errorf("the last one: %+v", last)
			}
		})
	}
}
