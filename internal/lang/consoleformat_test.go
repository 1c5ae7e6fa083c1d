// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// consoleValue writes a value as terraform's console does, so that the two can be compared as text.
func consoleValue(v cty.Value, indent int) string {
	bare, _ := v.Unmark()
	switch {
	case !bare.IsKnown():
		return "(known after apply)" // the console hides marks here
	case marks.Has(v, marks.Sensitive):
		return "(sensitive value)"
	case marks.Has(v, marks.Ephemeral):
		return "(ephemeral value)"
	case v.IsMarked():
		return fmt.Sprintf("(value with foreign marks %#v)", v.Marks())
	case v.IsNull():
		return consoleNull(v.Type())
	}
	ty := v.Type()
	switch {
	case ty == cty.String:
		return consoleString(v.AsString(), indent)
	case ty == cty.Number:
		return v.AsBigFloat().Text('f', -1)
	case ty == cty.Bool:
		return strconv.FormatBool(v.True())
	case ty.IsObjectType():
		return consoleMapping(v, indent)
	case ty.IsMapType():
		return "tomap(" + consoleMapping(v, indent) + ")"
	case ty.IsTupleType():
		return consoleSequence(v, indent)
	case ty.IsListType():
		return "tolist(" + consoleSequence(v, indent) + ")"
	case ty.IsSetType():
		return "toset(" + consoleSequence(v, indent) + ")"
	}
	return fmt.Sprintf("(cannot format %#v)", v)
}

func consoleNull(ty cty.Type) string {
	switch {
	case ty == cty.DynamicPseudoType:
		return "null"
	case ty == cty.String:
		return "tostring(null)"
	case ty == cty.Number:
		return "tonumber(null)"
	case ty == cty.Bool:
		return "tobool(null)"
	case ty.IsListType():
		return "tolist(null) /* of " + ty.ElementType().FriendlyName() + " */"
	case ty.IsSetType():
		return "toset(null) /* of " + ty.ElementType().FriendlyName() + " */"
	case ty.IsMapType():
		return "tomap(null) /* of " + ty.ElementType().FriendlyName() + " */"
	}
	return "null /* " + ty.FriendlyName() + " */"
}

func consoleString(s string, indent int) string {
	pad := strings.Repeat(" ", indent)
	lines := strings.Split(s, "\n")
	if len(lines) == 1 {
		return strconv.Quote(s)
	}
	return "<<-EOT\n" + pad + strings.Join(lines, "\n"+pad) + "\n" + pad + "EOT"
}

func consoleMapping(v cty.Value, indent int) string {
	if v.LengthInt() == 0 {
		return "{}"
	}
	pad := strings.Repeat(" ", indent)
	var b strings.Builder
	b.WriteString("{\n")
	for key, element := range v.Elements() {
		fmt.Fprintf(&b, "%s  %s = %s\n", pad, strconv.Quote(key.AsString()), consoleValue(element, indent+2))
	}
	b.WriteString(pad + "}")
	return b.String()
}

func consoleSequence(v cty.Value, indent int) string {
	if v.LengthInt() == 0 {
		return "[]"
	}
	pad := strings.Repeat(" ", indent)
	var b strings.Builder
	b.WriteString("[\n")
	for _, element := range v.Elements() {
		fmt.Fprintf(&b, "%s  %s,\n", pad, consoleValue(element, indent+2))
	}
	b.WriteString(pad + "]")
	return b.String()
}

// consoleType writes a type as the console's type function does.
func consoleType(ty cty.Type, indent int) string {
	pad := strings.Repeat(" ", indent)
	switch {
	case ty == cty.DynamicPseudoType:
		return "dynamic"
	case ty.IsPrimitiveType():
		return ty.FriendlyName()
	case ty.IsCollectionType():
		kind := map[bool]string{ty.IsListType(): "list", ty.IsSetType(): "set", ty.IsMapType(): "map"}[true]
		element := ty.ElementType()
		if !element.IsObjectType() && !element.IsTupleType() {
			return kind + "(" + consoleType(element, indent) + ")"
		}
		return kind + "(\n" + pad + "    " + consoleType(element, indent+4) + ",\n" + pad + ")"
	case ty.IsTupleType():
		if ty.Length() == 0 {
			return "tuple([])"
		}
		var b strings.Builder
		b.WriteString("tuple([\n")
		for _, element := range ty.TupleElementTypes() {
			fmt.Fprintf(&b, "%s    %s,\n", pad, consoleType(element, indent+4))
		}
		return b.String() + pad + "])"
	case ty.IsObjectType():
		attributes := ty.AttributeTypes()
		if len(attributes) == 0 {
			return "object({})"
		}
		var names []string
		for name := range attributes {
			names = append(names, name)
		}
		slices.SortFunc(names, cmp.Compare[string])
		var b strings.Builder
		b.WriteString("object({\n")
		for _, name := range names {
			fmt.Fprintf(&b, "%s    %s: %s,\n", pad, name, consoleType(attributes[name], indent+4))
		}
		return b.String() + pad + "})"
	}
	return ty.FriendlyName()
}
