// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/views/valuediff"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// FormatValue writes a value as an expression that would give it, with its type
// where the notation alone does not show it. Sensitive, ephemeral and unknown
// values appear as a word in parentheses.
func FormatValue(v cty.Value) string { return formatter{valuediff.KnownAfterApply}.text(v) }

// formatter writes values. It writes the text unknown for unknown ones.
type formatter struct{ unknown string }

func (f formatter) text(v cty.Value) string {
	var b strings.Builder
	f.value(&b, v, 0)
	return b.String()
}

const formatStep = 2

func (f formatter) value(b *strings.Builder, v cty.Value, indent int) {
	switch {
	case v == cty.NilVal:
		b.WriteString("null")
		return
	case marks.Has(v, marks.Ephemeral):
		b.WriteString("(ephemeral value)")
		return
	case v.IsMarked():
		b.WriteString("(sensitive value)")
		return
	case !v.IsKnown():
		b.WriteString(f.unknown)
		return
	case v.IsNull():
		b.WriteString(formatNull(v.Type()))
		return
	}
	ty := v.Type()
	switch {
	case ty == cty.Bool:
		b.WriteString(strconv.FormatBool(v.True()))
	case ty == cty.Number:
		b.WriteString(v.AsBigFloat().Text('f', -1))
	case ty == cty.String:
		formatString(b, v.AsString(), indent)
	case ty.IsMapType():
		f.parts(b, "tomap({", v, "})", indent)
	case ty.IsObjectType():
		f.parts(b, "{", v, "}", indent)
	case ty.IsListType():
		f.parts(b, "tolist([", v, "])", indent)
	case ty.IsSetType():
		f.parts(b, "toset([", v, "])", indent)
	case ty.IsTupleType():
		f.parts(b, "[", v, "]", indent)
	default:
		b.WriteString("(" + ty.FriendlyName() + ")")
	}
}

func formatNull(ty cty.Type) string {
	switch {
	case ty == cty.DynamicPseudoType:
		return "null"
	case ty.IsPrimitiveType():
		return "to" + ty.FriendlyName() + "(null)"
	case ty.IsListType():
		return "tolist(null) /* of " + ty.ElementType().FriendlyName() + " */"
	case ty.IsSetType():
		return "toset(null) /* of " + ty.ElementType().FriendlyName() + " */"
	case ty.IsMapType():
		return "tomap(null) /* of " + ty.ElementType().FriendlyName() + " */"
	}
	return "null /* " + ty.FriendlyName() + " */"
}

func formatString(b *strings.Builder, text string, indent int) {
	if !strings.Contains(text, "\n") || !valuediff.Printable(text) {
		b.WriteString(valuediff.Quote(text))
		return
	}
	opener, margin := "<<EOT", ""
	if indent > 0 {
		opener, margin = "<<-EOT", strings.Repeat(" ", indent)
	}
	b.WriteString(opener + "\n")
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(margin + line + "\n")
	}
	b.WriteString(margin + "EOT")
}

// parts writes the parts of a value, one a line: attributes and entries of maps with their names.
func (f formatter) parts(b *strings.Builder, opener string, v cty.Value, closer string, indent int) {
	named := v.Type().IsObjectType() || v.Type().IsMapType()
	inner := indent + formatStep
	b.WriteString(opener)
	if v.LengthInt() > 0 {
		b.WriteByte('\n')
		for it := v.ElementIterator(); it.Next(); {
			name, part := it.Element()
			b.WriteString(strings.Repeat(" ", inner))
			if named {
				b.WriteString(valuediff.Quote(name.AsString()) + " = ")
			}
			f.value(b, part, inner)
			if !named {
				b.WriteByte(',')
			}
			b.WriteByte('\n')
		}
		b.WriteString(strings.Repeat(" ", indent))
	}
	b.WriteString(closer)
}

// Errors of [RawOutput].
var (
	ErrRawNull    = errors.New("the value is null, which has no raw form")
	ErrRawUnknown = errors.New("the value is not known until after apply")
)

// RawOutput returns the text of a value for scripts, sensitive or not.
//
// Errors:
//   - [ErrRawNull], [ErrRawUnknown].
//   - another: the value is neither a string nor a number nor a bool.
func RawOutput(v cty.Value) (string, error) {
	v, _ = v.Unmark()
	ty := v.Type()
	switch {
	case !v.IsKnown():
		return "", ErrRawUnknown
	case v.IsNull():
		return "", ErrRawNull
	case ty == cty.String:
		return v.AsString(), nil
	case ty == cty.Number:
		return v.AsBigFloat().Text('f', -1), nil
	case ty == cty.Bool:
		return strconv.FormatBool(v.True()), nil
	}
	return "", fmt.Errorf("only strings, numbers and bools have a raw form, and the value is %s", ty.FriendlyName())
}
