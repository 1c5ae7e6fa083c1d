// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/format/terragrunt"
)

// units of Terragrunt as a workspace file, in their order.
func TestOrderX11Terragrunt(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"root.hcl":       "locals { region = \"eu-1\" }\ninputs = { region = local.region, owner = \"root\" }\n",
		"terragrunt.hcl": "remote_state {\n}\ngenerate \"x\" {\n}\n", // for units to include, and no unit
		"_env/app.hcl": `
terraform { source = "${get_repo_root()}/modules/app" }
dependency "db" { config_path = "${get_terragrunt_dir()}/../db" }
dependency "near" { config_path = "../near" }
`,
		"live/vpc/terragrunt.hcl": "include \"root\" { path = find_in_parent_folders(\"root.hcl\") }\n" +
			"terraform { source = \"git::example.org/vpc\" }\n",
		"live/vpc/.cache/x/main.tf": "",
		"live/db/main.tf":           "",
		"live/db/terragrunt.hcl": `
include { path = find_in_parent_folders() }
locals {
  parent = "..//"
  vpc    = "${local.parent}vpc"
}
dependency "vpc" {
  config_path  = local.vpc
  mock_outputs = { id = "x" }
}
dependency "off" {
  config_path = "../app"
  enabled     = false
}
inputs = { size = 3, public = false, vpc = dependency.vpc.outputs.id, list = [1] }
`,
		"live/app/terragrunt.hcl": `
include "root" { path = find_in_parent_folders("root.hcl") }
include "app" { path = format("%s/_env/app.hcl", get_repo_root()) }
inputs = { owner = "app" }
dependencies { paths = ["../db", "/live/cache", run_cmd("x"), "../../../out", "../gone"] }
skip = true
`,
		"live/cache/terragrunt.hcl":        "include { path = find_in_parent_folders() }",
		"live/cache/main.tf.json":          "{}",
		".terragrunt-cache/terragrunt.hcl": "terraform { source = \"x\" }",
	})
	units, diags := terragrunt.Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	r := FromTerragrunt(units)
	want := `# Units of Terragrunt. Those with a source are run by terragrunt, which fetches their modules:
#
#   cairn run -- terragrunt plan
#   cairn run -- terragrunt apply -auto-approve
#
# "cairn list -run-order" shows the order; "-changed -base=REF" after "run" takes those that have changed.

stack "live.app" {
  path  = "live/app"
  kind  = "terraform"
  after = ["live.cache", "live.db"]
  variables = {
    owner  = "app"
    region = "eu-1"
  }
}

stack "live.cache" {
  path = "live/cache"
}

stack "live.db" {
  path  = "live/db"
  after = ["live.vpc"]
  variables = {
    public = "false"
    size   = "3"
  }
}

stack "live.vpc" {
  path = "live/vpc"
  kind = "terraform"
  variables = {
    owner  = "root"
    region = "eu-1"
  }
}
`
	if diff := cmp.Diff(want, string(r.Text())); diff != "" {
		t.Errorf("workspace (-want +got):\n%s", diff)
	}
	wantLost := `The source "/modules/app" of live/app: run it with cairn run -- terragrunt, or write a root module that calls it (live/app/terragrunt.hcl:1:1).
That live/app depends on live/gone, where there is no unit (live/app/terragrunt.hcl:5:79).
Of live/app: a dependency, whose path is not written out (live/app/terragrunt.hcl:5:49).
Of live/app: a dependency outside of the tree (live/app/terragrunt.hcl:5:63).
Of live/app: the argument skip (live/app/terragrunt.hcl:6:1).
Of live/app: a dependency of a file that it includes, whose path does not begin with get_terragrunt_dir() or get_repo_root() (_env/app.hcl:4:35).
Of live/cache and 1 more: the block remote_state (terragrunt.hcl:1:1).
Of live/cache and 1 more: the block generate (terragrunt.hcl:3:1).
Of live/db: an input other than a text, number or boolean written out (live/db/terragrunt.hcl:15:44).
Of live/db: an input other than a text, number or boolean written out (live/db/terragrunt.hcl:15:78).
The source "git::example.org/vpc" of live/vpc: run it with cairn run -- terragrunt, or write a root module that calls it (live/vpc/terragrunt.hcl:1:1).`
	if diff := cmp.Diff(strings.Split(wantLost, "\n"), strings.Split(strings.ReplaceAll(lost(r), dir+"/", ""), "\n")); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	m := model(t, string(r.Text()))
	g := graphOf(t, m, false)
	if diff := cmp.Diff([]string{"live.cache", "live.vpc", "live.db", "live.app"}, sequence(g.Graph, m.Rule(), nil, byName(g))); diff != "" {
		t.Errorf("sequence (-want +got):\n%s", diff)
	}
	if diags := r.Check(); diags.HasErrors() {
		t.Error(diags)
	}
}

// A unit that a workspace file cannot name is there all the same.
func TestOrderX11TerragruntLost(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		`a/terragrunt.hcl`:   `dependencies { paths = ["../b\\c", "../d"] }`,
		`a/main.tf`:          "",
		`b\c/terragrunt.hcl`: "",
		`b\c/main.tf`:        "",
	})
	units, diags := terragrunt.Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	r := FromTerragrunt(units)
	want := `The unit b\c: a workspace file cannot name its directory (b\c/terragrunt.hcl:1:1).
That a depends on b\c, which was dropped (a/terragrunt.hcl:1:25).
That a depends on d, where there is no unit (a/terragrunt.hcl:1:36).`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(strings.ReplaceAll(lost(r), dir+"/", ""), "\n")); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
}

func TestTerragruntMistakes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a/terragrunt.hcl": "terraform { source = \"x\" }\ndependency \"b\" { config_path = \"../b\" }\n",
		"b/terragrunt.hcl": "terraform { source = \"x\" }\ndependency \"a\" { config_path = \"../a/terragrunt.hcl\" }\n",
		"c/terragrunt.hcl": "terraform {\n",
		"d/terragrunt.hcl": "locals {\n  a = \"${local.a}\"\n  b = format(\"%999999999d\", 1)\n}\ndependencies { paths = local.b }\n" +
			"include { path = \"../d/terragrunt.hcl\" }\ninclude { path = \"/nowhere\" }\nterraform { source = local.a }\n",
	})
	units, diags := terragrunt.Load(dir)
	text := strings.ReplaceAll(diags.Error(), dir+"/", "")
	if len(units) != 3 || len(diags) != 2 || !strings.Contains(text, "c/terragrunt.hcl:") && !strings.Contains(text, "a → b → a") {
		t.Errorf("%d units, %v", len(units), diags)
	}
	d := units[2]
	var unknown []string
	for _, u := range d.Unknown {
		unknown = append(unknown, u.What)
	}
	want := []string{"a dependency, whose path is not written out", "the included file, which cannot be read"}
	if diff := cmp.Diff(want, unknown); diff != "" || d.Source != "…" {
		t.Errorf("unknown (-want +got):\n%s; source %s", diff, d.Source)
	}
}

// The output for any file can be read, and each unknown of it has a place in the file.
func FuzzTerragrunt(f *testing.F) {
	f.Add("dependency \"b\" { config_path = \"../b\" }\nterraform { source = \"x\" }", "b")
	f.Add("include { path = find_in_parent_folders() }\ndependencies { paths = concat([\"../b\"], local.x) }\nlocals { x = [\"..\"] }", "b c")
	f.Add("inputs = { a = 1, \"b\" = null, (c) = 2 }\nterraform { source = join(\"/\", [get_repo_root(), \"m\"]) }", "é")
	f.Add("dependency \"x\" { config_path = {a = \"b\"} }\ndependencies { paths = {a = \"../b\"} }\ninclude {}\nterraform {}", "$b")
	f.Fuzz(func(t *testing.T, src, other string) {
		dir := t.TempDir()
		if strings.ContainsAny(other, "/\x00") || other == "" || other == "." || other == ".." || len(other) > 100 {
			other = "b"
		}
		write(t, dir, map[string]string{
			"a/terragrunt.hcl":        src,
			"a/main.tf":               "",
			other + "/terragrunt.hcl": "",
			other + "/main.tf":        "",
			"terragrunt.hcl":          src,
		})
		units, diags := terragrunt.Load(dir)
		if diags.HasErrors() {
			return
		}
		for _, u := range units {
			for _, unknown := range u.Unknown {
				if unknown.Range.Filename == "" || unknown.Range.Start.Line < 1 {
					t.Errorf("%s has no place: %v", unknown.What, unknown.Range)
				}
			}
		}
		r := FromTerragrunt(units)
		if diags := r.Check(); diags.HasErrors() {
			t.Errorf("%v\n%s", diags, r.Text())
		}
	})
}
