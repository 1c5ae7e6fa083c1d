// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/engine/native/planning"
	"github.com/cairnstacks/cairn/internal/providers/provider"
)

const ephemeralModule = `
-- main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "unknown" {
  default = "x"
}
ephemeral "fake_secret" "known" {
  name = "known"
}
ephemeral "fake_secret" "unknown" {
  name = var.unknown
}
resource "fake_thing" "a" {
  name  = "a"
  token = ephemeral.fake_secret.known.value
}
resource "fake_thing" "stored" {
  name = ephemeral.fake_secret.known.value
}
`

// planAnyway plans a request that the engine refuses as long as applying cannot carry out its plan.
func planAnyway(t *testing.T, req *planning.Request) *nativetest.Plan {
	t.Helper()
	result, plan, diags := planning.Plan(t.Context(), req)
	return &nativetest.Plan{PlanResult: result, Planned: plan, Diags: diags}
}

// TestEphemeral opens ephemeral resources whose configuration is known, and closes them.
func TestEphemeral(t *testing.T) {
	c := nativetest.New(t, ephemeralModule)
	var token cty.Value
	c.Fake.OnPlan = func(req provider.PlanRequest, response provider.PlanResponse) provider.PlanResponse {
		token = req.Config.GetAttr("token")
		return response
	}
	req := c.Request()
	req.Inputs["unknown"] = cty.UnknownVal(cty.String)
	plan := planAnyway(t, req)
	const want = `create fake_thing.a
  id = ?
  name = "a"
  secret = !null
  size = ?
error: Invalid use of ephemeral value of fake_thing.stored at main.tf:20
`
	if diff := cmp.Diff(want, plan.Show()); diff != "" {
		t.Errorf("Plan: (-want +got)\n%s", diff)
	}
	if got := nativetest.ShowValue(token); got != `"open known"` {
		t.Errorf("the token of fake_thing.a is %s, want that of the ephemeral resource", got)
	}
	calls := slices.DeleteFunc(c.Fake.Calls(), func(call string) bool { return !strings.Contains(call, "fake_secret") })
	if diff := cmp.Diff([]string{"validate fake_secret known", "open fake_secret known", "close fake_secret"}, calls); diff != "" {
		t.Errorf("calls about ephemeral resources (-want +got):\n%s", diff)
	}
}

// TestEphemeralRenewed renews an ephemeral resource until its users are planned.
func TestEphemeralRenewed(t *testing.T) {
	c := nativetest.New(t, `
-- main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
ephemeral "fake_secret" "s" {
}
resource "fake_thing" "slow" {
  name  = "user"
  token = ephemeral.fake_secret.s.value
}
resource "fake_thing" "others_are_planned_meanwhile" {
}
`)
	var closed string
	c.Fake.OnOpenEphemeral = func(_ provider.OpenEphemeralRequest, response provider.OpenEphemeralResponse) provider.OpenEphemeralResponse {
		response.RenewAt = time.Now().Add(time.Minute)
		return response
	}
	c.Fake.OnRenewEphemeral = func(req provider.EphemeralRequest, response provider.RenewEphemeralResponse) provider.RenewEphemeralResponse {
		response.Private, response.RenewAt = append([]byte("re"), req.Private...), time.Now().Add(time.Minute)
		return response
	}
	c.Fake.OnCloseEphemeral = func(req provider.EphemeralRequest) provider.Diagnostics {
		closed = string(req.Private)
		return provider.Errorf("Closing failed", "It is only a test.")
	}
	c.Fake.OnPlan = func(req provider.PlanRequest, response provider.PlanResponse) provider.PlanResponse {
		wait := time.Hour
		if !req.Config.GetAttr("name").IsNull() {
			wait = 150 * time.Second
		}
		time.Sleep(wait) //nolint:forbidigo // in virtual time
		return response
	}
	synctest.Test(t, func(t *testing.T) {
		plan := planAnyway(t, c.Request())
		if got, want := nativetest.ShowDiagnostics(plan.Diags), "error: Closing failed of ephemeral.fake_secret.s at main.tf:6\n"; got != want {
			t.Errorf("Plan: diagnostics are\n%swant\n%s", got, want)
		}
	})
	if closed != "rereopened" {
		t.Errorf("closed with the private data %q, want those that were renewed twice", closed)
	}
}
