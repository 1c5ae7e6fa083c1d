// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// TestRefreshedState keeps the present objects in the state, as they are now.
func TestRefreshedState(t *testing.T) {
	c := nativetest.New(t, `
-- main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
data "fake_thing" "fewer" {
  count = 1
  name  = "d"
}
data "fake_thing" "later" {
  name = terraform_data.first.output
}
resource "fake_thing" "gone" {
  name = "gone"
}
resource "fake_thing" "drifted" {
  name = "drifted"
}
resource "fake_thing" "imported" {
  name = "imported"
}
import {
  to = fake_thing.imported
  id = "imported"
}
resource "terraform_data" "first" {
  input      = "new"
  depends_on = [fake_thing.drifted]
  lifecycle {
    create_before_destroy = true
  }
}
resource "terraform_data" "not_first" {
}
moved {
  from = terraform_data.old
  to   = terraform_data.not_first
}
-- prior --
data.fake_thing.fewer[0] {"name":"old","result":"old"}
data.fake_thing.fewer[1] {"name":"old","result":"old"}
data.fake_thing.later {"name":"old","result":"old"}
data.fake_thing.orphan {"name":"old","result":"old"}
fake_thing.gone {"id":"1","name":"gone","size":1}
fake_thing.drifted {"id":"2","name":"drifted","size":1}
fake_thing.orphan depends=fake_thing.gone {"id":"3","name":"orphan","size":1}
terraform_data.first {"id":"4"}
terraform_data.old cbd depends=fake_thing.gone {"id":"5"}
`)
	obey(c.Fake)
	plan := c.Plan(t, nil)
	if len(plan.Diags) > 0 {
		t.Fatal(plan.Diags)
	}
	objects, err := tfstate.ParseObjects(plan.RefreshedState)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range objects {
		got = append(got, fmt.Sprintf("%s cbd %t depends %v", o.Addr, o.CreateBeforeDestroy, o.Dependencies))
	}
	slices.Sort(got)
	want := []string{
		"data.fake_thing.fewer[0] cbd false depends []",
		"fake_thing.drifted cbd true depends []",
		"fake_thing.imported cbd false depends []",
		"fake_thing.orphan cbd false depends [fake_thing.gone]",
		"terraform_data.first cbd true depends [fake_thing.drifted]",
		"terraform_data.not_first cbd false depends []",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Plan: objects of the refreshed state (-want +got):\n%s", diff)
	}
}
