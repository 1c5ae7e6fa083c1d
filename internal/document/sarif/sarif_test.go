// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package sarif_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/document/sarif"
)

// coded is the Extra of a diagnostic with a code and addresses.
type coded struct{}

func (coded) DiagnosticCode() string  { return "engine/odd" }
func (coded) Address() string         { return "component.a" }
func (coded) ResourceAddress() string { return "t.r[0]" }

func logOf(t *testing.T, diags hcl.Diagnostics) []byte {
	t.Helper()
	text, err := json.Marshal(sarif.New(diags, sarif.Options{
		Version: "1.2.3", Dir: "stacks/a b",
		Sources: diagnostic.Sources{Files: map[string]*hcl.File{"main.tf": {Bytes: []byte("x\ny = \"😀e\u0301\" + z\n")}}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var diags = hcl.Diagnostics{
	{
		Severity: hcl.DiagError, Summary: "Missing required argument", Detail: "Write it.",
		Subject: &hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: 2, Column: 12, Byte: 18}, End: hcl.Pos{Line: 2, Column: 13, Byte: 19}},
	},
	{
		Severity: hcl.DiagError, Summary: "Missing required argument", Detail: "Write it, too.",
		Subject: &hcl.Range{Filename: "../m/other.tf", Start: hcl.Pos{Line: 1, Column: 4, Byte: 3}, End: hcl.Pos{Line: 1, Column: 4, Byte: 3}},
	},
	{Severity: hcl.DiagWarning, Summary: "Odd", Extra: coded{}},
	{Severity: hcl.DiagWarning, Summary: "Whole file", Subject: &hcl.Range{Filename: "git::ssh://host/p//x.tf"}},
	{Severity: hcl.DiagWarning, Summary: "Whole file", Detail: "All of it.", Subject: &hcl.Range{Filename: "main.tf"}},
}

func TestLog(t *testing.T) {
	var got any
	if err := json.Unmarshal(logOf(t, diags), &got); err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal([]byte(`{"version":"2.1.0","runs":[{
		"tool":{"driver":{"name":"cairn","version":"1.2.3","rules":[
			{"id":"missing-required-argument","shortDescription":{"text":"Missing required argument"},
				"help":{"text":"Missing required argument: Write it, too."}},
			{"id":"whole-file","shortDescription":{"text":"Whole file"},"help":{"text":"Whole file."}},
			{"id":"engine/odd","shortDescription":{"text":"Odd"},"help":{"text":"Odd."}}]}},
		"invocations":[{"executionSuccessful":true}],
		"originalUriBaseIds":{"%SRCROOT%":{"description":{"text":"The root of the repository."}}},
		"columnKind":"utf16CodeUnits",
		"results":[
			{"ruleId":"missing-required-argument","ruleIndex":0,"level":"error","message":{"text":"Missing required argument: Write it, too."},
				"locations":[{"physicalLocation":{"artifactLocation":{"uri":"stacks/m/other.tf","uriBaseId":"%SRCROOT%"},
					"region":{"startLine":1,"startColumn":4,"endLine":1,"endColumn":5,"byteOffset":3,"byteLength":1}}}]},
			{"ruleId":"missing-required-argument","ruleIndex":0,"level":"error","message":{"text":"Missing required argument: Write it."},
				"locations":[{"physicalLocation":{"artifactLocation":{"uri":"stacks/a%20b/main.tf","uriBaseId":"%SRCROOT%"},
					"region":{"startLine":2,"startColumn":14,"endLine":2,"endColumn":15,"byteOffset":18,"byteLength":1}}}]},
			{"ruleId":"whole-file","ruleIndex":1,"level":"warning","message":{"text":"Whole file."},
				"locations":[{"logicalLocations":[{"fullyQualifiedName":"git::ssh://host/p//x.tf"}]}]},
			{"ruleId":"whole-file","ruleIndex":1,"level":"warning","message":{"text":"Whole file: All of it."},
				"locations":[{"physicalLocation":{"artifactLocation":{"uri":"stacks/a%20b/main.tf","uriBaseId":"%SRCROOT%"}}}]},
			{"ruleId":"engine/odd","ruleIndex":2,"level":"warning","message":{"text":"Odd."},
				"locations":[{"logicalLocations":[{"fullyQualifiedName":"component.a"},{"fullyQualifiedName":"t.r[0]"}]}]}]}]}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A log is valid by the schema of the standard, with and without results. Without a result's
// message it is not, so that the schema is one that can say so.
func TestSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	check := func(text []byte) error {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(doc)
	}
	for _, list := range []hcl.Diagnostics{nil, diags} {
		if err := check(logOf(t, list)); err != nil {
			t.Error(err)
		}
	}
	if err := check(bytes.ReplaceAll(logOf(t, diags), []byte(`"message"`), []byte(`"massage"`))); err == nil {
		t.Error("the schema accepts a result without a message")
	}
}
