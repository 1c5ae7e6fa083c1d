// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/order"
)

// The examples of the documentation have the order that it states.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../docs/order-workspace.md")
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile("(?m)^## (.*)$")
	example := regexp.MustCompile("(?ms)^```hcl\n(.*?)^```")
	want := map[string]string{
		"Edges by name, path, tag, glob and regular expression": "audit net-1 net-2 app",
		"Values from other stacks":                              "network app",
		"Gates for plan and for apply":                          "base dev prod",
		"Any or all":                                            "east west announce",
		"Weights and stages":                                    "backup c b a report",
		"Groups of groups":                                      "base dev-app prod-app prod-db smoke-test",
		"What counts as modified":                               "network app",
		"Reactions":                                             "backup app page restart",
		"Limits":                                                "orders-db users-db web-1 web-2",
	}
	sections := heading.FindAllSubmatchIndex(text, -1)
	for i, section := range sections {
		title, end := string(text[section[2]:section[3]]), len(text)
		if i+1 < len(sections) {
			end = sections[i+1][0]
		}
		first := example.FindSubmatch(text[section[1]:end])
		if want[title] == "" || first == nil {
			continue
		}
		g := graph(t, string(first[1]), false)
		if got := names(g, g.Sequence(order.ByWeight, nil)); got != want[title] {
			t.Errorf("%s: order %s, want %s", title, got, want[title])
		}
		delete(want, title)
	}
	for title := range want {
		t.Errorf("%s: no example", title)
	}
}

// The example of wants makes the selection that the text states.
func TestDocumentationWants(t *testing.T) {
	text, err := os.ReadFile("../../../docs/order-workspace.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?ms)^`wants` and `wanted_by` .*?^```hcl\n(.*?)^```").FindSubmatch(text)
	if example == nil {
		t.Fatal("there is no example of wants")
	}
	for selected, want := range map[string]string{"app": "app, db: app wants it", "files": "db: it is wanted by files, files"} {
		if got := strings.Join(selectedAlong(t, string(example[1]), selected, func(*Leaf) bool { return false }), ", "); got != want {
			t.Errorf("along with %s: got %s, want %s", selected, got, want)
		}
	}
}
