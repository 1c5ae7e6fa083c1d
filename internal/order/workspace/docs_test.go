// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workspace

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/order"
)

// The examples of the documentation have the order that it tells.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../docs/order-workspace.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?ms)^## ([^\n]*\\(X-0\\d\\))\n.*?^```hcl\n(.*?)^```").FindAllSubmatch(text, -1)
	want := map[string]string{
		"X-01": "audit net-1 net-2 app",
		"X-02": "base dev prod",
		"X-03": "east west announce",
		"X-04": "backup c b a report",
		"X-05": "base dev-app prod-app prod-db smoke-test",
		"X-06": "network app",
		"X-07": "backup app page restart",
		"X-08": "orders-db users-db web-1 web-2",
	}
	for _, example := range examples {
		title := string(example[1])
		line := title[strings.LastIndex(title, "(")+1 : len(title)-1]
		g := graph(t, string(example[2]), false)
		if got := names(g, g.Sequence(order.ByWeight, nil)); got != want[line] {
			t.Errorf("%s: order %s, want %s", line, got, want[line])
		}
		delete(want, line)
	}
	for line := range want {
		t.Errorf("%s: no example", line)
	}
}

// The example of wants selects what the text says.
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
