// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
)

func TestIsDeployFile(t *testing.T) {
	for name, want := range map[string]bool{
		"a.tfdeploy.hcl": true, "a.tfdeploy.json": true, "tfdeploy.hcl": false, "a.tfcomponent.hcl": false, "a.tfdeploy.hcl.bak": false,
		".tfdeploy.hcl": true,
	} {
		if got := deployconfig.IsDeployFile(name); got != want {
			t.Errorf("IsDeployFile(%q) = %t", name, got)
		}
	}
}

func TestNoDeployFiles(t *testing.T) {
	if config, diags := deployconfig.Load(t.TempDir()); config != nil || diags != nil {
		t.Errorf("got %v, %s; want nothing", config, details(diags))
	}
	if config, diags := deployconfig.Load(filepath.Join(t.TempDir(), "gone")); config != nil || !diags.HasErrors() {
		t.Errorf("of a directory that is not there: got %v, %s; want an error", config, details(diags))
	}
}

func TestDeclarations(t *testing.T) {
	config, diags := deployconfig.Load("testdata/valid/all")
	if len(diags) > 0 {
		t.Fatal(details(diags))
	}
	for what, test := range map[string]struct{ got, want any }{
		"order":       {config.Order, []string{"development", "canary_a", "canary_b", "production"}},
		"group order": {config.GroupOrder, []string{"development_default", "canary", "production_default"}},
		"members":     {config.Groups["canary"].Members, []string{"canary_a", "canary_b"}},
		"checks":      {config.Groups["canary"].Checks, []string{"small"}},
		"eager plan":  {[]bool{config.Groups["canary"].EagerPlan, config.Groups["production_default"].EagerPlan}, []bool{false, true}},
		"tolerance":   {config.Groups["canary"].FailureTolerance, 2},
		"automatic":   {[]bool{config.Groups["canary"].Automatic, config.Groups["production_default"].Automatic}, []bool{false, true}},
		"group of": {
			[]string{config.Deployments["canary_b"].Group, config.Deployments["production"].Group},
			[]string{"canary", "production_default"},
		},
		"import":   {config.Deployments["canary_b"].Import, true},
		"destroy":  {[]bool{config.Deployments["production"].Destroy, config.Deployments["canary_a"].Destroy}, []bool{true, false}},
		"audience": {config.Tokens["aws"].Audience, []string{"aws.workload.identity"}},
		"set name": {config.Stores[deployconfig.StoreKey{Type: "varset", Name: "secrets"}].SetName, "web-secrets"},
		"set id":   {config.Stores[deployconfig.StoreKey{Type: "varset", Name: "by-id"}].ID, "varset-1"},
		"category": {config.Stores[deployconfig.StoreKey{Type: "varset", Name: "by-id"}].Category, "env"},
		"upstream": {config.Upstreams["network"].Source, deployconfig.UpstreamSource{
			Host: "app.terraform.io", Organization: "example",
			Project: "platform", Stack: "network",
		}},
		"description": {config.Published["id"].Description, "Where it is."},
		"type":        {config.Published["id"].Type.Constraint == cty.String && config.Published["ids"].Type == nil, true},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	uses := config.Uses(config.Deployments["development"].Inputs)
	store := uses.Stores[deployconfig.StoreKey{Type: "varset", Name: "secrets"}]
	if cmp.Diff([]string{"aws"}, uses.Tokens) != "" || store == nil || len(store.Keys) != 0 || store.Stable["password"].Start.Line == 0 {
		t.Errorf("got uses %+v, of the store %+v", uses, store)
	}
	if uses := config.Uses(config.Deployments["canary_a"].Inputs); uses.Upstreams["network"]["vpc"].Start.Line == 0 {
		t.Errorf("got uses %+v", uses)
	}
}

// Buffers stand for files, also for those that are not there.
func TestBuffers(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.tfdeploy.hcl", "deployment \"old\" {\n  inputs = {}\n}\n")
	config, diags := deployconfig.LoadWith(dir, deployconfig.LoadOptions{Buffers: map[string][]byte{
		filepath.Join(dir, "a.tfdeploy.hcl"):         []byte("locals { x = {} }\n"),
		filepath.Join(dir, "b.tfdeploy.json"):        []byte(`{"deployment": {"new": {"inputs": "${local.x}"}}}`),
		filepath.Join(dir, "sub", "c.tfdeploy.hcl"):  []byte("#"),
		filepath.Join(dir, "d.tfcomponent.hcl"):      []byte("#"),
		filepath.Join(t.TempDir(), "e.tfdeploy.hcl"): []byte("#"),
	}})
	if len(diags) > 0 || cmp.Diff([]string{"new"}, config.Order) != "" || len(config.Files) != 2 {
		t.Errorf("got %v of %d files, %s", config.Order, len(config.Files), details(diags))
	}
}

// A deployment file that is no regular file is an error, and no declaration that could be in it is
// reported as missing.
func TestUnreadableFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a.tfdeploy.hcl"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "b.tfdeploy.hcl", "deployment \"a\" {\n  inputs = local.perhaps\n}\n")
	_, diags := deployconfig.Load(dir)
	if len(diags) != 1 || diags[0].Summary != "Deployment files unreadable" || diags[0].Subject.Filename != "a.tfdeploy.hcl" {
		t.Errorf("got %s, want one error", details(diags))
	}
}

func TestParseUpstreamSource(t *testing.T) {
	for written, ok := range map[string]bool{
		"app.terraform.io/org/project/stack": true, "localhost:8080/o/My Project/s": true,
		"": false, "org/project/stack": false, "h/o/p/s/x": false, "h//p/s": false, "h/o/ p/s": false, "https://h/o": false,
		"user@h/o/p/s": false, "h/o/p/s\n": false,
	} {
		source, err := deployconfig.ParseUpstreamSource(written)
		if (err == nil) != ok || ok && source.String() != written {
			t.Errorf("%q: got %q, %v", written, source, err)
		}
	}
}

// A remedy is in the text of each error that a reader may not understand otherwise.
func TestRemedies(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"store type": {`store "kms" "k" {}`, `store "varset" "k"`},
		"meta":       {"identity_token \"t\" {\n  audience = [\"a\"]\n  count = 1\n}", "no meta-arguments"},
		"group": {"deployment \"d\" {\n  inputs = {}\n  deployment_group = deployment_group.prodution\n}\ndeployment_group " +
			"\"production\" {\n  auto_approve_checks = []\n}", `Did you mean "production"?`},
		"root":     {"locals {\n  a = 1\n  b = locals.a\n}", `Did you mean "local"?`},
		"local":    {"locals {\n  network = 1\n  b = local.ntework\n}", `Did you mean "local.network"?`},
		"var":      {"locals {\n  b = var.a\n}", "component files"},
		"variable": {`variable "x" {}`, "locals block"},
		"output":   {`output "x" {}`, "publish_output"},
		"inputs":   {"deployment \"d\" {\n  region = 1\n  inputs = {}\n}", "inputs = { NAME = VALUE }"},
		"function": {"locals {\n  a = lengh([])\n}", `"length"`},
		"whole store": {
			"locals {\n  a = store.varset.s\n}\nstore \"varset\" \"s\" {\n  name = \"s\"\n  category = \"env\"\n}",
			"store.varset.s.stable.KEY",
		},
		"upstream":     {"upstream_input \"u\" {\n  type = \"stack\"\n  source = \"../network\"\n}", "HOST/ORGANIZATION/PROJECT/STACK"},
		"orchestrate":  {"orchestrate \"auto_approve\" \"a\" {\n  check {\n    condition = true\n    reason = \"\"\n  }\n}", "deployment_group"},
		"replan":       {"orchestrate \"replan\" \"a\" {\n  check {\n    condition = true\n    reason = \"\"\n  }\n}", "Remove the block"},
		"no block":     {"", `deployment "NAME"`},
		"dash in name": {`deployment "a b" {}`, "start with a letter"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "a.tfdeploy.hcl", test.text+"\n")
			if name != "no block" && name != "dash in name" {
				write(t, dir, "z.tfdeploy.hcl", "deployment \"z\" {\n  inputs = {}\n}\n")
			}
			_, diags := deployconfig.Load(dir)
			if len(diags) != 1 || !strings.Contains(diags[0].Detail, test.want) {
				t.Errorf("got %s, want one diagnostic with %q", details(diags), test.want)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
