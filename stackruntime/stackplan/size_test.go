// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// TestSizeOfPlanFile bounds the size, before compression, of a plan that changes 20 objects of one
// component with the native engine: nothing is written twice.
func TestSizeOfPlanFile(t *testing.T) {
	const objects, limit = 20, 18_000
	var archive strings.Builder
	archive.WriteString("-- main.tfcomponent.hcl --\n" + `
variable "v" {
  type = string
}
component "c" {
  source = "./m"
  inputs = { in = var.v }
}
-- m/main.tf --
variable "in" {
  type = string
}
`)
	for i := range objects {
		fmt.Fprintf(&archive, "resource \"terraform_data\" \"r%d\" {\n  input = \"${var.in} %d\"\n}\n", i, i)
	}
	s := stacktest.Native(t, archive.String())
	s.Inputs = map[string]cty.Value{"v": cty.StringVal("old")}
	s.Converge()
	s.Inputs["v"] = cty.StringVal("new")
	plan := s.Plan(engine.Normal)
	if counts := plan.Counts(); counts.Change != objects {
		t.Fatalf("counts = %+v, want %d changes", counts, objects)
	}
	var file bytes.Buffer
	if _, err := stackplan.Write(&file, plan, stackplan.FileContext{}); err != nil {
		t.Fatal(err)
	}
	members, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var size uint64
	for _, member := range members.File {
		size += member.UncompressedSize64
	}
	t.Logf("%d bytes, %d compressed", size, file.Len())
	if size >= limit {
		t.Errorf("the plan of %d changed objects has %d bytes, want less than %d", objects, size, limit)
	}
}
