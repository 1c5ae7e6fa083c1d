// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// bareInJSON are the arguments whose references and keywords are strings without a template in
// JSON.
var bareInJSON = []string{
	"type", "language", "depends_on", "provider", "providers", "ignore_changes", "replace_triggered_by",
	"from", "to", "events", "actions", "when", "on_failure",
}

// jsonOf writes a file of the native syntax in JSON.
func jsonOf(t *testing.T, text string) string {
	t.Helper()
	file, diags := hclsyntax.ParseConfig([]byte(text), "main.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%s\n%s", text, diags)
	}
	body, err := json.MarshalIndent(jsonBody(t, file.Body.(*hclsyntax.Body), file.Bytes), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func jsonBody(t *testing.T, body *hclsyntax.Body, source []byte) map[string]any {
	t.Helper()
	properties := map[string]any{}
	for name, attr := range body.Attributes {
		properties[name] = jsonExpr(t, attr.Expr, source, slices.Contains(bareInJSON, name))
	}
	// Blocks of a type are an array, each with an object for each of its labels.
	for _, block := range body.Blocks {
		var written any = jsonBody(t, block.Body, source)
		for _, label := range slices.Backward(block.Labels) {
			written = map[string]any{label: written}
		}
		others, _ := properties[block.Type].([]any)
		properties[block.Type] = append(others, written)
	}
	return properties
}

func jsonExpr(t *testing.T, expr hclsyntax.Expression, source []byte, bare bool) any {
	t.Helper()
	switch expr := expr.(type) {
	case *hclsyntax.TupleConsExpr:
		elements := []any{}
		for _, element := range expr.Exprs {
			elements = append(elements, jsonExpr(t, element, source, bare))
		}
		return elements
	case *hclsyntax.ObjectConsExpr:
		properties := map[string]any{}
		for _, item := range expr.Items {
			properties[string(item.KeyExpr.Range().SliceBytes(source))] = jsonExpr(t, item.ValueExpr, source, bare)
		}
		return properties
	case *hclsyntax.LiteralValueExpr:
		return json.RawMessage(expr.Range().SliceBytes(source)) // numbers, true and false
	}
	written := string(expr.Range().SliceBytes(source))
	switch {
	case bare:
		return strings.Trim(written, `"`)
	case strings.HasPrefix(written, `"`):
		return json.RawMessage(written)
	default:
		return "${" + written + "}"
	}
}
