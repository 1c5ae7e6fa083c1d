// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployeval_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/deployments/deployeval"
	"github.com/cairnstacks/cairn/internal/deployments/varset"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// load returns the declarations of a deployment file.
func load(t *testing.T, src string) *deployconfig.Config {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tfdeploy.hcl"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	config, diags := deployconfig.Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return config
}

// sources gives values, and counts the requests for them.
type sources struct{ asked []string }

func (s *sources) Token(_ context.Context, token *deployconfig.IdentityToken) (string, error) {
	s.asked = append(s.asked, "token "+token.Name)
	if token.Name == "broken" {
		return "", errors.New("no token today")
	}
	return "jwt-of-" + token.Name, nil
}

func (s *sources) Set(_ context.Context, store *deployconfig.Store) (map[string]varset.Value, error) {
	s.asked = append(s.asked, "set "+store.Name)
	return map[string]varset.Value{
		"plain":  {Value: cty.StringVal("p")},
		"secret": {Value: cty.StringVal("s"), Sensitive: true},
	}, nil
}

func (s *sources) Upstream(_ context.Context, upstream *deployconfig.UpstreamInput) (map[string]cty.Value, error) {
	s.asked = append(s.asked, "upstream "+upstream.Name)
	return map[string]cty.Value{
		"id": cty.StringVal("i"), "later": cty.UnknownVal(cty.String),
		"key": cty.StringVal("k").Mark(marks.Sensitive),
	}, nil
}

const inputs = `
identity_token "used" {
  audience = ["a"]
}
identity_token "unused" {
  audience = ["a"]
}
identity_token "broken" {
  audience = ["a"]
}
store "varset" "set" {
  name     = "set"
  category = "env"
}
store "varset" "kept" {
  name     = "set"
  category = "env"
}
upstream_input "net" {
  type   = "stack"
  source = "cairn.example/a/b/c"
}
locals {
  token  = identity_token.used.jwt
  prefix = "x-${upstream_input.net.id}"
}
deployment "d" {
  inputs = {
    a = local.token
    b = [local.token, store.varset.set.secret, store.varset.set.plain]
    c = store.varset.kept.stable.plain
    d = store.varset.kept.stable["secret"]
    e = "${local.prefix}-${upstream_input.net.later}"
    f = upstream_input.net.key
  }
}
deployment "failing" {
  inputs = { a = identity_token.broken.jwt, b = identity_token.broken.jwt }
}
`

func TestInputs(t *testing.T) {
	config := load(t, inputs)
	from := &sources{}
	evaluator := deployeval.New(config, t.TempDir(), from)
	got, diags := evaluator.Inputs(t.Context(), config.Deployments["d"])
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	secret := func(text string) cty.Value { return cty.StringVal(text).Mark(marks.Sensitive) }
	token := secret("jwt-of-used").Mark(marks.Ephemeral)
	want := map[string]cty.Value{
		"a": token,
		"b": cty.TupleVal([]cty.Value{token, secret("s").Mark(marks.Ephemeral), cty.StringVal("p").Mark(marks.Ephemeral)}),
		"c": cty.StringVal("p"),
		"d": secret("s"),
		"f": secret("k"),
	}
	for name, value := range want {
		if !got[name].RawEquals(value) {
			t.Errorf("%s = %#v, want %#v", name, got[name], value)
		}
	}
	if later := got["e"]; later.IsKnown() || later.Type() != cty.String {
		t.Errorf("e = %#v, want an unknown string", later)
	}
	slices.Sort(from.asked)
	if asked := strings.Join(from.asked, ", "); asked != "set kept, set set, token used, upstream net" {
		t.Errorf("fetched %s: want each that is used, once", asked)
	}
	if stable, _ := evaluator.Stable(); len(stable) != 2 ||
		!stable[deployeval.StableKey{Type: "varset", Store: "kept", Key: "secret"}].RawEquals(secret("s")) {
		t.Errorf("stable values are %v", stable)
	}
	if !deployeval.Ephemeral(got) {
		t.Error("the inputs have ephemeral values")
	}
}

// A source that cannot be fetched is reported once, at the first reference to it.
func TestInputsFail(t *testing.T) {
	config := load(t, inputs)
	_, diags := deployeval.New(config, t.TempDir(), &sources{}).Inputs(t.Context(), config.Deployments["failing"])
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "No token today") || diags[0].Subject == nil {
		t.Errorf("diagnostics are %v, want one with a place", diags)
	}
}

const publishing = `
deployment "a" {
  inputs = {}
}
deployment "b" {
  inputs = {}
}
publish_output "both" {
  value = "${deployment.a.id}-${deployment.b.id}"
}
publish_output "later" {
  value = deployment.a.later
}
`

func TestPublished(t *testing.T) {
	config := load(t, publishing)
	evaluator := deployeval.New(config, t.TempDir(), &sources{})
	outputs := map[string]map[string]cty.Value{"a": {"id": cty.StringVal("1"), "later": cty.UnknownVal(cty.String)}}
	of := func(_ context.Context, name string) (map[string]cty.Value, error) { return outputs[name], nil }
	snapshot, diags := evaluator.Published(t.Context(), of)
	if diags.HasErrors() || len(snapshot.Values) != 0 || !maps.EqualFunc(snapshot.Waiting, map[string][]string{"both": {"b"}, "later": {"a"}},
		slices.Equal) {
		t.Errorf("published %v, waiting %v, %v", snapshot.Values, snapshot.Waiting, diags)
	}
	outputs["a"]["later"] = cty.NumberIntVal(2)
	outputs["b"] = map[string]cty.Value{"id": cty.StringVal("3").Mark(marks.Sensitive)}
	snapshot, diags = evaluator.Published(t.Context(), of)
	if diags.HasErrors() || len(snapshot.Waiting) != 0 || !snapshot.Values["both"].RawEquals(cty.StringVal("1-3").Mark(marks.Sensitive)) {
		t.Errorf("published %v, waiting %v, %v", snapshot.Values, snapshot.Waiting, diags)
	}
	delete(outputs["a"], "later")
	if snapshot, diags = evaluator.Published(t.Context(), of); len(diags) != 0 ||
		!maps.EqualFunc(snapshot.Waiting, map[string][]string{"later": {"a"}}, slices.Equal) {
		t.Errorf("an output that is not there yet: waiting %v, %v", snapshot.Waiting, diags)
	}
}

const rules = `
locals {
  most = 2
}
deployment "prod" {
  inputs = {}
}
deployment_auto_approve "small" {
  check {
    condition = context.plan.changes.total <= local.most
    reason    = "${context.plan.changes.total} changes are many."
  }
  check {
    condition = context.plan.deployment != deployment.prod
    reason    = "Production is for people."
  }
  check {
    condition = context.plan.component_changes["component.db"].remove == 0
    reason    = "The database loses something."
  }
}
`

func TestCheck(t *testing.T) {
	config := load(t, rules)
	plan := func(total int64, deployment string, db bool) cty.Value {
		changes := cty.EmptyObjectVal
		if db {
			changes = cty.ObjectVal(map[string]cty.Value{"component.db": cty.ObjectVal(map[string]cty.Value{"remove": cty.Zero})})
		}
		return cty.ObjectVal(map[string]cty.Value{"plan": cty.ObjectVal(map[string]cty.Value{
			"changes":           cty.ObjectVal(map[string]cty.Value{"total": cty.NumberIntVal(total)}),
			"component_changes": changes,
			"deployment":        deployconfig.DeploymentObject(deployment),
		})})
	}
	for name, test := range map[string]struct {
		plan    cty.Value
		reasons []string
		errors  int
	}{
		"approved":             {plan(2, "dev", true), nil, 0},
		"too many":             {plan(3, "dev", true), []string{"3 changes are many."}, 0},
		"production":           {plan(3, "prod", true), []string{"3 changes are many.", "Production is for people."}, 0},
		"no such component":    {plan(0, "dev", false), []string{"The database loses something."}, 1},
		"an unknown condition": {cty.DynamicVal, []string{"", "Production is for people.", "The database loses something."}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			var reasons []string
			errors := 0
			for _, refusal := range deployeval.New(config, t.TempDir(), &sources{}).Check(t.Context(), config.Rules["small"], test.plan) {
				reasons = append(reasons, refusal.Reason)
				errors += len(refusal.Err)
			}
			if !slices.Equal(reasons, test.reasons) || (errors > 0) != (test.errors > 0) {
				t.Errorf("reasons %q with %d errors, want %q", reasons, errors, test.reasons)
			}
		})
	}
}
