// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

const ephemeralOutputStack = `
-- main.tfcomponent.hcl --
required_providers {
  fake = { source = "cairnstacks/fake", version = "1.0.0" }
}
variable "secret" {
  type      = string
  ephemeral = true
}
provider "fake" "main" {
  config {
    require_auth   = true
    authentication = component.tok.phrase
  }
}
component "tok" {
  source = "./tok"
  inputs = { secret = var.secret }
}
component "app" {
  source    = "./app"
  inputs    = { token = component.tok.phrase, id = component.tok.id }
  providers = { fake = provider.fake.main }
}
-- tok/main.tf --
variable "secret" {
  type      = string
  ephemeral = true
}
resource "terraform_data" "lasting" {
}
output "id" {
  value = terraform_data.lasting.id
}
output "phrase" {
  value     = "open ${var.secret}"
  ephemeral = true
}
-- app/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "token" {
  type      = string
  ephemeral = true
}
variable "id" {
  type = string
}
resource "fake_writeonly" "a" {
  value          = "first"
  secret         = var.token
  secret_version = 1
}
`

// Ephemeral outputs of a module reach provider configurations and ephemeral variables in each
// phase, and are stored nowhere: those of a component that has nothing to apply, or is about to be
// destroyed, are evaluated again.
func TestEphemeralOutputs(t *testing.T) {
	t.Parallel()
	s := stacktest.Native(t, ephemeralOutputStack)
	s.Ephemeral["secret"] = cty.StringVal("sesame")
	storedNowhere(t, s, s.Plan(engine.Normal))
	s.Converge()
	storedNowhere(t, s, s.Plan(engine.Normal))
	if plan := s.Plan(engine.Normal); plan.Counts().Total() > 0 {
		t.Errorf("the stack does not converge:\n%s", stacktest.PlanText(plan))
	}

	s.Write("-- app/more.tf --\nresource \"fake_resource\" \"b\" {\n}\n") // without anything to do in the other component
	plan := s.Plan(engine.Normal)
	storedNowhere(t, s, plan)
	s.Apply(plan)

	plan = s.Plan(engine.Destroy)
	storedNowhere(t, s, plan)
	s.Apply(plan)
	nothingLeft(t, s)
}

// storedNowhere checks that the secret of the test is neither in the plan file nor in the state.
func storedNowhere(t *testing.T, s *stacktest.Stack, plan *stackplan.Plan) {
	t.Helper()
	secret := []byte("sesame")
	var file bytes.Buffer
	if _, err := stackplan.Write(&file, plan, stackplan.FileContext{}); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range archive.File {
		opened, err := member.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(opened)
		if err != nil || bytes.Contains(content, secret) {
			t.Errorf("%s of the plan has the secret, or cannot be read: %v", member.Name, err)
		}
	}
	records, err := s.State.Records()
	if err != nil {
		t.Fatal(err)
	}
	for key, record := range records {
		if bytes.Contains(record, secret) {
			t.Errorf("record %s of the state has the secret", key)
		}
	}
}

// An output that is stored cannot take such a value.
func TestEphemeralOutputInRootOutput(t *testing.T) {
	t.Parallel()
	s := stacktest.Native(t, ephemeralOutputStack+`
-- out.tfcomponent.hcl --
output "leak" {
  type  = string
  value = component.tok.phrase
}
`)
	s.Ephemeral["secret"] = cty.StringVal("sesame")
	_, diags := s.TryPlan(engine.Normal)
	same(t, "diagnostics", "error out.tfcomponent.hcl:3: Ephemeral value in a lasting output\n", stacktest.Summaries(diags))
}
