// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// outlineText writes an outline in one line: groups with their members, and a minus before
// deployments that are to be destroyed.
func outlineText(o *Outline) string {
	var groups []string
	for _, group := range o.Groups {
		text := group.String() + ":"
		for _, member := range group.Members {
			if o.Deployment(member).Destroy {
				member = "-" + member
			}
			text += " " + member
		}
		if !group.Eager {
			text += " in turn"
		}
		groups = append(groups, text)
	}
	return strings.Join(groups, "; ")
}

func TestOutline(t *testing.T) {
	tests := map[string]struct {
		files map[string]string
		want  string
		diags []string
	}{
		"groups and none": {
			files: map[string]string{
				"a.tfdeploy.hcl": `
deployment "b" {
  inputs           = { x = local.nothing }
  deployment_group = deployment_group.g
}
deployment "c" { destroy = true }
deployment "a" { deployment_group = "deployment_group.g" }
`,
				"b.tfdeploy.json": `{"deployment_group": {"g": {"eager_plan": false}}, "deployment": {"d": {"deployment_group": "${deployment_group.g}", "destroy": true}}}`,
			},
			want: "the deployment c: -c; the deployment group g: b a -d in turn",
		},
		"nothing is evaluated": {
			files: map[string]string{"a.tfdeploy.hcl": `
deployment "a" {
  destroy          = length([for i in range(1e9) : i]) > 0
  deployment_group = "${[for i in range(1e9) : i]}"
}`},
			want: "the deployment a: a",
		},
		"what leaves no doubt is left to others": {
			files: map[string]string{"a.tfdeploy.hcl": `
deployment "a" {
  deployment_group = deployment_group.unknown
  other            = 1
}
nonsense "x" {}`},
			want: "the deployment a: a",
		},
		"twice": {
			files: map[string]string{"a.tfdeploy.hcl": "deployment \"a\" {}\ndeployment \"a\" {}"},
			want:  "the deployment a: a",
			diags: []string{"live/a.tfdeploy.hcl:2: Name used twice"},
		},
		"syntax": {
			files: map[string]string{"a.tfdeploy.hcl": "deployment \"a\" {"},
			diags: []string{"live/a.tfdeploy.hcl:1: Unclosed configuration block"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			var names []string
			for name, text := range test.files {
				fsys["x/"+name] = &fstest.MapFile{Data: []byte(text)}
				names = append(names, name)
			}
			outline, diags := ReadOutline(fsys, "x", "live", names)
			var got []string
			for _, diag := range diags {
				got = append(got, fmt.Sprintf("%s:%d: %s", diag.Subject.Filename, diag.Subject.Start.Line, diag.Summary))
			}
			if diff := cmp.Diff(test.diags, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
			if got := outlineText(outline); got != test.want {
				t.Errorf("ReadOutline = %q, want %q", got, test.want)
			}
		})
	}
	if _, diags := ReadOutline(fstest.MapFS{}, "x", "live", []string{"gone.tfdeploy.hcl"}); !diags.HasErrors() {
		t.Error("ReadOutline of a file that is not there has no errors")
	}
}
