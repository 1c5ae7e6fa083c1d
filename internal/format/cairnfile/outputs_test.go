// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"slices"
	"strings"
	"testing"
)

// a stack modified by outputs follows, is distinguished from stacks modified otherwise, and
// waits for the stacks whose outputs it takes.
func TestOrderX06Outputs(t *testing.T) {
	m := resolve(t, `
stack "net" {}
stack "dns" {}
stack "db" { modified_by_outputs = ["net", "dns"] }
stack "app" { modified_by_outputs = ["db"] }
stack "mon" {
  modified_by         = ["db"]
  modified_by_outputs = ["net"]
}
group "edge" {
  members             = ["cdn"]
  modified_by_outputs = ["app"]
  plan_after          = []
}
stack "cdn" {}
`)
	for file, want := range map[string]string{
		"net/a.tf": "db if net; app if db; cdn if app",
		"dns/a.tf": "db if dns; app if db; cdn if app",
		"db/a.tf":  "app if db; cdn if app",
		"mon/a.tf": "",
		"app/a.tf": "cdn if app",
	} {
		only := changedBy(t, m, file).ByOutputs
		var got []string
		for _, leaf := range m.Leaves {
			var of []string
			for _, other := range only[leaf] {
				of = append(of, other.Name)
			}
			if len(of) > 0 {
				got = append(got, leaf.Name+" if "+strings.Join(of, ", "))
			}
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s: got %q, want %q", file, text, want)
		}
	}
	if only := changedBy(t, m, "net/a.tf", "db/a.tf").ByOutputs; slices.ContainsFunc(m.Leaves, func(l *Leaf) bool {
		return l.Name == "db" && only[l] != nil
	}) {
		t.Error("db has changed itself, and depends on outputs of net all the same")
	}

	// An empty plan_after takes nothing away: outputs are known after the apply.
	if got, want := waves(t, `
stack "app" {}
stack "cdn" {
  modified_by_outputs = ["app"]
  plan_after          = []
}
`, "app cdn"), "plan app; apply app; plan cdn; apply cdn"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
