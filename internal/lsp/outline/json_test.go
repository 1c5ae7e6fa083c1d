// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package outline

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/cairnstacks/cairn/internal/lsp/position"
)

const sampleJSON = `{
  "component": {
    "é😀": {
      "source": "./net",
      "inputs": { "a": 1 }
    },
    "app": { "source": "./app" }
  },
  "removed": [
    { "from": "component.a", "source": "./a" },
    { "from": "component.b", "lifecycle": { "destroy": false } }
  ],
  "locals": { "x": 1 },
  "output": {
    "open": { "value":`

func TestSymbolsOfJSON(t *testing.T) {
	for _, src := range []string{sampleJSON, sampleJSON + " 1 }\n  }\n}\n"} {
		text := position.NewText([]byte(src))
		var got []string
		var list func(symbols []protocol.DocumentSymbol, around *protocol.Range, indent string)
		list = func(symbols []protocol.DocumentSymbol, around *protocol.Range, indent string) {
			for _, s := range symbols {
				detail := ""
				if s.Detail != nil {
					detail = " " + *s.Detail
				}
				got = append(got, fmt.Sprintf("%s%s%s %d-%d", indent, s.Name, detail, s.Range.Start.Line, s.Range.End.Line))
				if !liesIn(text, s.SelectionRange, s.Range) || around != nil && !liesIn(text, s.Range, *around) {
					t.Errorf("%s is at %v, its name at %v", s.Name, s.Range, s.SelectionRange)
				}
				list(s.Children, &s.Range, indent+"  ")
			}
		}
		list(SymbolsOfJSON("/s/main.tfcomponent.json", text), nil, "")
		want := []string{
			`component "é😀" ./net 2-5`, "  source 3-3", "  inputs 4-4", `component "app" ./app 6-6`, "  source 6-6",
			"removed ./a 8-9", "  from 9-9", "  source 9-9", "removed 10-10", "  from 10-10", "  lifecycle 10-10", "    destroy 10-10",
			"locals 12-12", "  x 12-12",
		}
		if src == sampleJSON {
			want = append(want, `output "open" 14-14`)
			got = got[:len(want)]
		} else {
			want = append(want, `output "open" 14-14`, "  value 14-14")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("symbols (-want +got):\n%s", diff)
		}
	}
	if got := SymbolsOfJSON("/s/main.tfcomponent.json", position.NewText([]byte("[1"))); len(got) > 0 {
		t.Errorf("symbols of no object: %v", got)
	}
}

func liesIn(text *position.Text, inner, outer protocol.Range) bool {
	return text.Offset(outer.Start) <= text.Offset(inner.Start) && text.Offset(inner.End) <= text.Offset(outer.End)
}
