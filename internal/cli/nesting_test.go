// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
)

// tooNested returns expressions that are nested so deep that their parser would end the process, or
// nearly so.
func tooNested(levels int) map[string]string {
	nested := func(open, middle, closing string) string {
		return strings.Repeat(open, levels) + middle + strings.Repeat(closing, levels)
	}
	return map[string]string{
		"brackets":    nested("[", "", "]"),
		"parentheses": nested("(", "1", ")"),
		"objects":     nested("{x=", "1", "}"),
		"calls":       nested("f(", "1", ")"),
		"templates":   nested(`"${`, "1", `}"`),
		"heredocs":    nested("<<E\n${", "1", "}\nE\n"),
		"loops":       nested("[for x in [] : ", "1", "]"),
		"directives":  `"` + nested("%{if true}", "", "%{endif}") + `"`,
		"negations":   nested("!", "true", ""),
		"minus signs": nested("-", "1", ""),
		"conditions":  nested("true ? 1 : ", "1", ""),
		"sums":        nested("1+", "1", ""),
		"indexes":     "local.x" + nested("[local.y]", "", ""),
	}
}

// TestNestingEndsNoProcess gives everything that reads HCL more nesting than there is stack for.
func TestNestingEndsNoProcess(t *testing.T) {
	const deep = 100_000
	json := `{"x": ` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + "}"
	jsonTemplate := `{"x": "${` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + `}"}`
	type reader struct {
		file, content string
		args          []string
		want          string // the place in the error, if it has one
	}
	tests := map[string]reader{
		"JSON, variables":           {"v.tfvars.json", json, []string{"plan", "-var-file=v.tfvars.json"}, "on v.tfvars.json line 1"},
		"JSON, variables, template": {"v.tfvars.json", jsonTemplate, []string{"plan", "-var-file=v.tfvars.json"}, "on v.tfvars.json line 1"},
		"JSON, stack":               {"x.tfcomponent.json", `{"locals": ` + json + "}", []string{"validate"}, "on x.tfcomponent.json line 1"},
		"JSON, stack, template": {
			"x.tfcomponent.json", `{"locals": ` + jsonTemplate + "}", []string{"validate"}, "on x.tfcomponent.json line 1",
		},
		"JSON, stack, type": {
			"x.tfcomponent.json", `{"variable": {"x": {"type": "` + strings.Repeat("[", deep) + `"}}}`,
			[]string{"validate"},
			"on x.tfcomponent.json line 1",
		},
		"JSON, module": {"m/x.tf.json", `{"locals": ` + json + "}", []string{"validate"}, "m/x.tf.json line 1"},
		"templatefile": {
			"t.tftpl", "\n${" + strings.Repeat("[", deep), []string{"console", "-e", `templatefile("t.tftpl", {})`}, "t.tftpl:2",
		},
		"state in JSON": {"s.json", json, []string{"state", "push", "s.json"}, ""},
		"state, resources": {
			"s.tfstate", `{"version": 4, "terraform_version": "1.11.4", "resources": ` + json + "}",
			[]string{"state", "import", "component.a", "s.tfstate"},
			"",
		},
		"blocks": {
			"x.tfcomponent.hcl", strings.Repeat("a {\n", deep) + strings.Repeat("}\n", deep),
			[]string{"validate"},
			"on x.tfcomponent.hcl line 201",
		},
	}
	for kind, expr := range tooNested(deep) {
		tests[kind] = reader{"x.tfcomponent.hcl", "locals {\n  x = " + expr + "\n}\n", []string{"validate"}, "on x.tfcomponent.hcl line "}
	}
	expr := tooNested(deep)["brackets"]
	tests["module"] = reader{"m/x.tf", "locals {\n  x = " + expr + "\n}\n", []string{"validate"}, "m/x.tf line 2"}
	tests["fmt"] = reader{"x.tfcomponent.hcl", "locals {\n  x = " + expr + "\n}\n", []string{"fmt"}, "on x.tfcomponent.hcl line 2"}
	tests["variables"] = reader{"v.tfvars", "\nx = " + expr + "\n", []string{"plan", "-var-file=v.tfvars"}, "on v.tfvars line 2"}
	tests["settings"] = reader{"cairn.hcl", "\nx = " + expr + "\n", []string{"plan"}, "on cairn.hcl line 2"}
	tests["variable"] = reader{"", "", []string{"plan", "-var=list=" + expr}, "on option -var=list line 1"}
	tests["console"] = reader{"", "", []string{"console", "-e", expr}, "on <console> line 1"}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStack(t, chainArchive+"-- list.tfcomponent.hcl --\nvariable \"list\" {\n  type    = list(number)\n  default = []\n}\n")
			if test.file != "" {
				if err := os.WriteFile(test.file, []byte(test.content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r := s.run(test.args...)
			said := r.out + r.err
			unwrapped := strings.Join(strings.Fields(strings.ReplaceAll(said, "│", "")), " ")
			if r.status == cmdline.ExitOK || !strings.Contains(unwrapped, test.want) || len(said) > 20_000 {
				t.Errorf("exit code %d, %d bytes; want an error %s:\n%.2000s", r.status, len(said), test.want, said)
			}
		})
	}
}

// TestNestingOfPeople reads expressions that are nested deeper than anybody writes them.
func TestNestingOfPeople(t *testing.T) {
	for kind, expr := range tooNested(90) {
		if kind == "heredocs" { // ends in a line of its own
			expr = strings.TrimSuffix(expr, "\n")
		}
		t.Run(kind, func(t *testing.T) {
			s := newStack(t, "-- x.tfcomponent.hcl --\nlocals {\n  z = "+expr+"\n}\n")
			if r := s.run("fmt", "-check"); r.status != cmdline.ExitOK && r.err != "" {
				t.Errorf("exit code %d\n%s", r.status, r.err)
			}
		})
	}
}
