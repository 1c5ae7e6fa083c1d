// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schema_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/lsp/language/schema"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/workers/config"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// refused are names that the decoder knows only to say that there is no such thing.
var refused = []string{"nullable", "precondition"}

// The tables have the blocks and arguments that the decoder of component files decodes.
func TestStack(t *testing.T) {
	checkBody(t, nil, schema.Block{Blocks: schema.Stack})
}

// The tables have the blocks and arguments that the decoder of deployment files decodes.
func TestDeploy(t *testing.T) {
	checkBodies(t, deployconfig.BodySchema, nil, schema.Block{Blocks: schema.Deploy})
}

func checkBody(t *testing.T, types []string, block schema.Block) {
	t.Helper()
	checkBodies(t, stackconfig.BodySchema, types, block)
}

func checkBodies(t *testing.T, schemaOf func(types ...string) *hcl.BodySchema, types []string, block schema.Block) {
	t.Helper()
	decoded := schemaOf(types...)
	if decoded == nil {
		if len(block.Arguments) > 0 {
			t.Errorf("%q has arguments, but the decoder takes any name", types)
		}
		return
	}
	for _, attribute := range decoded.Attributes {
		argument := block.Argument(attribute.Name)
		if slices.Contains(refused, attribute.Name) {
			continue
		}
		if argument == nil {
			t.Errorf("%q lacks argument %q", types, attribute.Name)
			continue
		}
		// the decoder reports its absence in words of its own
		mustBeThere := types[0] == "output" && argument.Name == "value" || types[len(types)-1] == "check"
		if argument.Required != (attribute.Required || mustBeThere) {
			t.Errorf("%q: argument %q is required: %t", types, argument.Name, argument.Required)
		}
	}
	for _, argument := range block.Arguments {
		if !slices.ContainsFunc(decoded.Attributes, func(a hcl.AttributeSchema) bool { return a.Name == argument.Name }) {
			t.Errorf("%q: the decoder does not have argument %q", types, argument.Name)
		}
	}
	for _, nested := range decoded.Blocks {
		found := schema.Find(block.Blocks, nested.Type)
		switch {
		case slices.Contains(refused, nested.Type):
		case found == nil:
			t.Errorf("%q lacks block %q", types, nested.Type)
		case !slices.Equal(withoutKinds(found.Labels), withoutKinds(nested.LabelNames)):
			t.Errorf("%q: block %q has labels %q, want %q", types, nested.Type, found.Labels, nested.LabelNames)
		}
	}
	for _, nested := range block.Blocks {
		if !slices.ContainsFunc(decoded.Blocks, func(b hcl.BlockHeaderSchema) bool { return b.Type == nested.Type }) {
			t.Errorf("%q: the decoder does not have block %q", types, nested.Type)
		}
		checkBodies(t, schemaOf, append(slices.Clone(types), nested.Type), nested)
	}
}

func withoutKinds(labels []string) []string {
	labels = slices.Clone(labels)
	for i := range labels {
		labels[i] = strings.TrimPrefix(labels[i], "configuration ")
	}
	return labels
}

// The tables have the names that the decoder of workspace files decodes: it knows all names in
// them, and none besides.
func TestWorkspace(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/order-workspace.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{} // names that there may be: those of the tables, and those that the documentation has
	for _, match := range regexp.MustCompile("`([a-z_]+)`|(?m)^ *([a-z_]+) *=").FindAllStringSubmatch(string(text), -1) {
		all[match[1]+match[2]] = true
	}
	for _, block := range schema.Workspace {
		for _, argument := range block.Arguments {
			all[argument.Name] = true
		}
	}
	for _, block := range schema.Workspace {
		if block.Type == config.BlockType { // see TestWorkers
			continue
		}
		for name := range all {
			src := fmt.Sprintf("%s \"x\" {\n  %s = []\n}\n", block.Type, name)
			if block.Type == "workspace" {
				src = fmt.Sprintf("workspace {\n  %s = []\n}\n", name)
			}
			if block.Type == "locals" { // which has any names
				continue
			}
			if known := !hasUnknown(src); known != (block.Argument(name) != nil || schema.Find(block.Blocks, name) != nil) {
				t.Errorf("%s: %q is known to the decoder: %t", block.Type, name, known)
			}
		}
		if hasUnknown(block.Type + " \"x\" {}\n") {
			t.Errorf("the decoder does not know blocks %q", block.Type)
		}
		for _, nested := range block.Blocks {
			for _, argument := range nested.Arguments {
				if hasUnknown(fmt.Sprintf("%s \"x\" {\n  %s {\n    %s = null\n  }\n}\n", block.Type, nested.Type, argument.Name)) {
					t.Errorf("the decoder does not know %s.%s.%s", block.Type, nested.Type, argument.Name)
				}
			}
		}
	}
}

// The decoder of the block about workers has the arguments and blocks of the tables, and requires
// those that they require.
func TestWorkers(t *testing.T) {
	block := schema.Find(schema.Workspace, config.BlockType)
	if block == nil {
		t.Fatal("the tables have no such block")
	}
	for _, b := range append(slices.Clone(block.Blocks), *block) {
		for _, argument := range append(slices.Clone(b.Arguments), schema.Argument{Name: "other"}) {
			text := fmt.Sprintf("%s = null\n", argument.Name)
			if b.Type != block.Type {
				text = fmt.Sprintf("%s %s {\n%s}\n", b.Type, strings.Repeat(`"x"`, len(b.Labels)), text)
			}
			known := !hasSummary(text, "Unsupported argument", argument.Name) && !hasSummary(text, "Unsupported block type", b.Type)
			if known != (argument.Name != "other") {
				t.Errorf("%s.%s is known to the decoder: %t", b.Type, argument.Name, known)
			}
			without := strings.Replace(text, argument.Name+" = null\n", "", 1)
			if required := hasSummary(without, "Missing required argument", argument.Name); required != argument.Required {
				t.Errorf("%s.%s is required by the decoder: %t", b.Type, argument.Name, required)
			}
		}
	}
}

// hasSummary reports whether a mistake in a block about workers has a summary, and a name in its
// detail.
func hasSummary(body, summary, name string) bool {
	_, diags := cairnfile.Parse(cairnfile.FileName, fmt.Appendf(nil, "workers \"temporal\" {\n%s}\n", body))
	return slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool {
		return diag.Summary == summary && strings.Contains(diag.Detail, strconv.Quote(name))
	})
}

func hasUnknown(src string) bool {
	_, diags := cairnfile.Parse(cairnfile.FileName, []byte(src))
	return slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool { return problem.CodeOf(diag) == problem.UnknownKey })
}

func TestDocumentation(t *testing.T) {
	var check func(within string, block schema.Block)
	check = func(within string, block schema.Block) {
		if !strings.HasSuffix(block.Doc, ".") && !strings.HasSuffix(block.Doc, "}") {
			t.Errorf("%s%s: documentation %q is not a sentence", within, block.Type, block.Doc)
		}
		for _, argument := range block.Arguments {
			if argument.Doc == "" || argument.Type == "" {
				t.Errorf("%s%s.%s is not documented", within, block.Type, argument.Name)
			}
		}
		for _, nested := range block.Blocks {
			check(within+block.Type+".", nested)
		}
	}
	for _, block := range slices.Concat(schema.Stack, schema.Workspace) {
		check("", block)
	}
}
