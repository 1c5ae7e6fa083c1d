// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying_test

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/providers/provider"
)

// TestEphemeral checks that an ephemeral resource is opened again while applying if something needs
// it, and closed at the end.
func TestEphemeral(t *testing.T) {
	c := nativetest.New(t, `
-- main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
ephemeral "fake_secret" "used" {
  name = "used"
}
ephemeral "fake_secret" "unused" {
  name = "unused"
}
resource "fake_thing" "a" {
  name  = "a"
  token = ephemeral.fake_secret.used.value
}
`)
	plan := c.Plan(t, nil)
	planned := len(c.Fake.Calls())
	var token cty.Value
	c.Fake.OnApply = func(req provider.ApplyRequest, response provider.ApplyResponse) provider.ApplyResponse {
		token = req.Config.GetAttr("token")
		return response
	}
	applied := c.Apply(t, plan, nil)
	if len(applied.Diags) > 0 || token == cty.NilVal || !token.RawEquals(cty.StringVal("open used")) {
		t.Errorf("applying: %v, with the token %#v, want \"open used\"", applied.Diags, token)
	}
	want := []string{"open fake_secret used", "apply fake_thing a", "close fake_secret"}
	got := slices.DeleteFunc(c.Fake.Calls()[planned:], func(call string) bool {
		return !slices.Contains(want, call) && call != "open fake_secret unused"
	})
	if !slices.Equal(got, want) {
		t.Errorf("calls: %q, want %q", got, want)
	}
}
