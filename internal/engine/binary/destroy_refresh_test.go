// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// A destroy plan refreshes all objects, also where the number of instances is not known any more:
// of a block, of a module, and of their dependents. Objects that are gone are not deleted.
func TestDestroyRefreshesUnknownInstances(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	b := newFakeBench(t, map[string]string{
		"mod/main.tf": fakeRequired + `
variable "names" { type = set(string) }
resource "fake_resource" "plain" { id = "plain" }
resource "fake_resource" "other" { id = "other" }
resource "fake_resource" "named" {
  for_each = var.names
  id       = each.key
}
resource "fake_resource" "after" {
  id    = "after"
  value = length(fake_resource.named)
}
module "child" {
  source   = "./child"
  for_each = var.names
  name     = each.key
}
output "ids" {
  value = [for r in fake_resource.named : r.id]
}
`,
		"mod/child/main.tf": fakeRequired + `
variable "name" { type = string }
resource "fake_resource" "inner" { id = "inner-${var.name}" }
`,
	})
	store := os.Getenv("CAIRN_FAKE_STORE")
	names := func(of cty.Value) map[string]cty.Value { return map[string]cty.Value{"names": of} }
	req := b.request(names(cty.SetVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")})))
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{{LocalName: "fake"}: b.config(nil)}
	applied := b.apply(applyRequest(req, b.plan(req).Plan, req.Inputs))
	for _, gone := range []string{"plain", "a", "after", "inner-b"} {
		if err := os.Remove(filepath.Join(store, gone+".json")); err != nil {
			t.Fatal(err)
		}
	}

	req.Mode, req.PriorState = engine.Destroy, applied.State
	req.Inputs = names(cty.UnknownVal(cty.Set(cty.String)))
	refreshed := map[string]int{}
	b.observe = func(ev engine.Event) {
		if ev.Type == engine.RefreshStart {
			refreshed[ev.Resource]++
		}
	}
	result := b.planQuietly(req)
	if len(refreshed) != 7 {
		t.Errorf("refreshed: got %v, want all 7 objects", refreshed)
	}
	for address, times := range refreshed {
		if times != 1 {
			t.Errorf("it is said %d times that %s is refreshed", times, address)
		}
	}
	wantActions(t, result, map[string]string{
		"fake_resource.other": "delete ", `fake_resource.named["b"]`: "delete ", `module.child["a"].fake_resource.inner`: "delete ",
	})
	if !result.Complete || len(result.Drift) != 4 {
		t.Errorf("complete %v, drift of %d objects; want a complete plan, and drift of 4", result.Complete, len(result.Drift))
	}
	destroyed := b.applyQuietly(applyRequest(req, result.Plan, req.Inputs))
	if left, err := tfstate.ParseObjects(destroyed.State); err != nil || len(left) > 0 {
		t.Errorf("left after the destroy: %v, %v", left, err)
	}
	if left, err := os.ReadDir(store); err != nil || len(left) > 0 {
		t.Errorf("objects left after the destroy: %v, %v", left, err)
	}
}
