// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package markdown_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairnstacks/cairn/internal/views/markdown"
)

func TestDrift(t *testing.T) {
	got := markdown.Drift([]markdown.DriftUnit{
		{Name: "net", State: "drifted", Drifted: true, Objects: []markdown.DriftObject{
			{Component: "component.a", Address: `fake.x["a|b*c"]`, Change: "changed", Attributes: []string{"tags", "size"}},
		}},
		{Name: "app\n@all", State: "failed", Detail: "plan: <b>"},
		{Name: "sealed", State: "drifted", Drifted: true},
		{Name: "web", State: "no drift"},
	})
	want := `### Drift: 2 of 4

**1 could not be compared.**

| unit | component | object | change | attributes |
| --- | --- | --- | --- | --- |
| net | component.a | fake.x&#91;"a&#124;b&#42;c"&#93; | changed | tags, size |
| sealed | | | | |

| unit | result | |
| --- | --- | --- |
| net | drifted |  |
| appU+000A&#64;all | failed | plan: &#60;b&#62; |
| sealed | drifted |  |
| web | no drift |  |
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got, want := markdown.Drift(nil), "### Drift: 0 of 0\n\n"; got != want {
		t.Errorf("of nothing: %q, want %q", got, want)
	}
}

func TestDriftIsCut(t *testing.T) {
	var units []markdown.DriftUnit
	for i := range 5000 {
		units = append(units, markdown.DriftUnit{Name: fmt.Sprintf("ünit-%d", i), State: "no drift"})
	}
	got := markdown.Drift(units)
	if n := utf8.RuneCountInString(got); n > markdown.MaxLength || n < markdown.MaxLength-100 ||
		!strings.HasSuffix(got, "|\n\nThis is not all: the rest is in the output and in the other reports of the run.\n") {
		t.Errorf("%d characters, ending in %q", n, got[len(got)-200:])
	}
}
