// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

func TestExportAndImport(t *testing.T) {
	c := &Component{
		Addr: componentAddr(t, "component.a"),
		Outputs: map[string]cty.Value{
			"id":      cty.StringVal("x"),
			"secret":  cty.TupleVal([]cty.Value{cty.StringVal("s").Mark(marks.Sensitive), cty.Zero}),
			"null":    cty.NullVal(cty.String),
			"unknown": cty.UnknownVal(cty.String),
		},
		Module: engine.State(joinedDocument),
	}
	doc, err := ExportModule(c)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(joinedDocument, `"outputs":{}`,
		`"outputs":{"id":{"value":"x","type":"string"},"secret":{"value":["s",0],"type":["tuple",["string","number"]],"sensitive":true}}`, 1)
	if diff := cmp.Diff(want, string(doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	parsed, err := tfstate.Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ImportModule(c.Addr, parsed)
	if err != nil {
		t.Fatal(err)
	}
	wantComponent := &Component{
		Addr:   c.Addr,
		Inputs: map[string]cty.Value{},
		Outputs: map[string]cty.Value{
			"id":     cty.StringVal("x"),
			"secret": cty.TupleVal([]cty.Value{cty.StringVal("s"), cty.Zero}).Mark(marks.Sensitive),
		},
		Module: c.Module,
	}
	if diff := cmp.Diff(wantComponent, got, compareStates); diff != "" {
		t.Errorf("component (-want +got):\n%s", diff)
	}
	again, err := ExportModule(got)
	if err != nil || string(again) != string(doc) {
		t.Errorf("exporting again: %v\n%s", err, again)
	}
}

func TestExportWithoutModuleState(t *testing.T) {
	doc, err := ExportModule(&Component{Addr: componentAddr(t, "component.a"), Outputs: map[string]cty.Value{"x": cty.True}})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"version":4`, `"serial":1`, `"lineage":"`, `"outputs":{"x":{"value":true,"type":"bool"}}`,
		`"resources":[]`,
	} {
		if !strings.Contains(string(doc), part) {
			t.Errorf("%s is missing in %s", part, doc)
		}
	}
}

func TestImportErrors(t *testing.T) {
	for name, doc := range map[string]string{
		"empty":        "",
		"outputs":      `{"version":4,"outputs":[]}`,
		"output type":  `{"version":4,"outputs":{"a":{"value":1,"type":"odd"}}}`,
		"output value": `{"version":4,"outputs":{"a":{"value":{},"type":"bool"}}}`,
		"object twice": `{"version":4,"resources":[{"mode":"managed","type":"a","name":"b","instances":[{},{}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			parsed, err := tfstate.Parse([]byte(doc))
			if err != nil {
				t.Fatal(err)
			}
			if c, err := ImportModule(componentAddr(t, "component.a"), parsed); err == nil {
				t.Errorf("ImportModule = %+v, want an error", c)
			}
		})
	}
}
