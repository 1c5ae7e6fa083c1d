// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	planv1 "github.com/cairnstacks/cairn/proto/cairn/plan/v1"
	rpcclient "github.com/cairnstacks/cairn/proto/terraform1/client"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// A plan of more than 64 MiB, and the state that it leads to, are sent in elements: no message has
// to be as large. The plan is one of a component in which there is nothing to do, to which a large
// refreshed state is added, so that no engine has to make one.
func TestLargePlan(t *testing.T) {
	x := newExchange(t, map[string]string{
		"main.tfcomponent.hcl": "component \"a\" {\n  source = \"./module\"\n}\n",
		"module/main.tf":       "locals {}\n",
	})
	plan := x.plan(rpcclient.PlanOptions{})
	const objects, size, part = 70, 1 << 20, 1 << 20
	state := largeState(objects, size)
	at := slices.IndexFunc(plan.Changes, func(c *stackspb.PlannedChange) bool {
		return len(c.GetRaw()) == 1 && c.GetRaw()[0].MessageIs(&planv1.PlannedComponent{})
	})
	plan.Changes = slices.DeleteFunc(plan.Changes, func(c *stackspb.PlannedChange) bool {
		return len(c.GetRaw()) == 1 && c.GetRaw()[0].MessageIs(&planv1.ComponentPart{})
	})
	for data := range slices.Chunk(state, part) {
		element, err := anypb.New(&planv1.ComponentPart{
			Component: "component.a",
			Content:   planv1.ComponentPart_CONTENT_REFRESHED_STATE,
			Data:      data,
		})
		if err != nil {
			t.Fatal(err)
		}
		at++
		plan.Changes = slices.Insert(plan.Changes, at, &stackspb.PlannedChange{Raw: []*anypb.Any{element}})
	}
	total := 0
	for _, element := range plan.Raw() {
		total += proto.Size(element)
	}
	if total <= 64<<20 {
		t.Errorf("the plan has %d bytes only", total)
	}
	applied := &rpcclient.State{}
	if diags, err := x.stack.Apply(t.Context(), plan, applied, rpcclient.ApplyOptions{}); err != nil {
		t.Fatal(diags, err)
	}
	if want := objects + 1; len(applied.Raw) != want {
		t.Errorf("the state has %d records, want %d", len(applied.Raw), want)
	}
	file := x.path("large.tfstackstate")
	if err := applied.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	x.cairn("state", "push", file)
	if got := bytes.Count(x.cairn("state", "list"), []byte("terraform_data.x")); got != objects {
		t.Errorf("the command line finds %d objects, want %d", got, objects)
	}
}

// largeState is a state document with objects of a size.
func largeState(objects, size int) []byte {
	var document bytes.Buffer
	document.WriteString(`{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"l","outputs":{},` +
		`"resources":[{"mode":"managed","type":"terraform_data","name":"x",` +
		`"provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[`)
	text := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	for i := range objects {
		if i > 0 {
			document.WriteByte(',')
		}
		fmt.Fprintf(&document,
			`{"index_key":%d,"schema_version":0,`+
				`"attributes":{"id":"i%d","input":{"value":"%s","type":"string"},"output":null,"triggers_replace":null}}`, i, i, text)
	}
	document.WriteString(`]}],"check_results":null}`)
	return document.Bytes()
}
