// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schematest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// The text that Syntax writes for unknown values, and the resource that it refers to.
const (
	Unknown         = "terraform_data.unknown.output"
	UnknownResource = `resource "terraform_data" "unknown" {
  input = jsondecode(timestamp())
}
`
)

// Syntax writes the content of a block with the given object.
func Syntax(block *schema.Block, object cty.Value) string {
	var text strings.Builder
	writeBody(&text, block, object)
	return text.String()
}

func writeBody(text *strings.Builder, block *schema.Block, object cty.Value) {
	for _, attr := range block.Attributes {
		if value := object.GetAttr(attr.Name); !value.IsNull() {
			fmt.Fprintf(text, "%s = %s\n", attr.Name, expression(value))
		}
	}
	for _, nested := range block.Blocks {
		value := object.GetAttr(nested.Name)
		switch {
		case !value.IsKnown():
			labels := ""
			if nested.Nesting == schema.Map {
				labels = "labels = [\"k\"]\n"
			}
			fmt.Fprintf(text, "dynamic %q {\nfor_each = %s\n%scontent {\n}\n}\n", nested.Name, Unknown, labels)
		case nested.Nesting == schema.Single && value.IsNull():
		case nested.Nesting == schema.Single || nested.Nesting == schema.Group:
			fmt.Fprintf(text, "%s {\n", nested.Name)
			writeBody(text, nested.Block, value)
			text.WriteString("}\n")
		default:
			for key, element := range value.Elements() {
				label := ""
				if nested.Nesting == schema.Map {
					label = strconv.Quote(key.AsString()) + " "
				}
				fmt.Fprintf(text, "%s %s{\n", nested.Name, label)
				writeBody(text, nested.Block, element)
				text.WriteString("}\n")
			}
		}
	}
}

func expression(value cty.Value) string {
	ty := value.Type()
	switch {
	case !value.IsKnown():
		return Unknown
	case value.IsNull():
		return "null"
	case ty == cty.String:
		return strconv.Quote(value.AsString())
	case ty == cty.Number:
		return value.AsBigFloat().Text('f', -1)
	case ty == cty.Bool:
		return strconv.FormatBool(value.True())
	}
	var parts []string
	for key, element := range value.Elements() {
		if ty.IsMapType() || ty.IsObjectType() {
			parts = append(parts, fmt.Sprintf("%q = %s", key.AsString(), expression(element)))
		} else {
			parts = append(parts, expression(element))
		}
	}
	if ty.IsMapType() || ty.IsObjectType() {
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
