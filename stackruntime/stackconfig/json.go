// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/safehcl"
)

// staticExpression returns an expression that is analysed instead of evaluated,
// in native syntax: JSON files have it as a string.
//
// Ranges inside a JSON string are exact as long as it has no escapes; those of diagnostics are
// corrected by keepInside. ok is false if there was a syntax error; expressions of JSON files that
// are no strings are returned as they are.
func (d *decoder) staticExpression(expr hcl.Expression) (native hcl.Expression, ok bool) {
	text, isString := jsonString(expr)
	if !isString {
		return expr, true
	}
	if strings.HasPrefix(text, "${") {
		d.errorf(expr.Range(), "Template not allowed here",
			"This argument is read and not evaluated. Write it without ${ and }, as it stands in native syntax.")
		return unknownExpression(expr.Range()), false
	}
	native, diags := safehcl.ParseExpression([]byte(text), expr.Range().Filename, insideQuotes(expr))
	d.diags = append(d.diags, d.keepInside(diags, expr.Range())...)
	return native, !diags.HasErrors()
}

// StaticTraversal returns the traversal that an expression consists of, or nil. In JSON it is a
// string.
func StaticTraversal(expr hcl.Expression) hcl.Traversal {
	if text, ok := jsonString(expr); ok {
		traversal, diags := hclsyntax.ParseTraversalAbs([]byte(text), expr.Range().Filename, insideQuotes(expr))
		if diags.HasErrors() {
			return nil
		}
		return traversal
	}
	traversal, diags := hcl.AbsTraversalForExpr(expr)
	if diags.HasErrors() {
		return nil
	}
	return traversal
}

// jsonString returns the text of a string in a JSON file.
func jsonString(expr hcl.Expression) (string, bool) {
	if _, native := expr.(hclsyntax.Expression); native {
		return "", false
	}
	v, diags := expr.Value(nil)
	if diags.HasErrors() || v.Type() != cty.String || !v.IsKnown() || v.IsNull() {
		return "", false
	}
	return v.AsString(), true
}

func insideQuotes(expr hcl.Expression) hcl.Pos {
	start := expr.Range().Start
	return hcl.Pos{Line: start.Line, Column: start.Column + 1, Byte: start.Byte + 1}
}

// CheckTemplates finds syntax errors in the strings of an expression in a JSON file, whose text is
// src.
func CheckTemplates(expr hcl.Expression, src []byte) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if pairs, notMap := hcl.ExprMap(expr); !notMap.HasErrors() {
		for _, pair := range pairs {
			diags = append(diags, CheckTemplates(pair.Key, src)...)
			diags = append(diags, CheckTemplates(pair.Value, src)...)
		}
		return diags
	}
	if elems, notList := hcl.ExprList(expr); !notList.HasErrors() {
		for _, elem := range elems {
			diags = append(diags, CheckTemplates(elem, src)...)
		}
		return diags
	}
	if text, ok := jsonString(expr); ok {
		_, diags = safehcl.ParseTemplate([]byte(text), expr.Range().Filename, insideQuotes(expr))
	}
	return keepInside(diags, expr.Range(), src)
}

func (d *decoder) keepInside(diags hcl.Diagnostics, whole hcl.Range) hcl.Diagnostics {
	return keepInside(diags, whole, d.jsonSource(whole.Filename))
}

// jsonSource returns the text of a JSON file, nil for other files.
func (d *decoder) jsonSource(filename string) []byte {
	if file := d.loader.files[filename]; file != nil && isJSON(filename) {
		return file.Bytes
	}
	return nil
}

// keepInside corrects the places of diagnostics from inside a string of a JSON
// file, whose text was parsed after its escapes were removed. Places that still
// are not inside the string become the whole string. Without src, which is the
// text of the file, they are not corrected.
func keepInside(diags hcl.Diagnostics, whole hcl.Range, src []byte) hcl.Diagnostics {
	var offsets []int
	if src != nil && whole.CanSliceBytes(src) {
		offsets = rawOffsets(whole.SliceBytes(src))
	}
	for _, diag := range diags {
		diag.Context = nil
		if diag.Subject != nil && offsets != nil {
			diag.Subject.Start = rawPos(diag.Subject.Start, whole.Start, offsets)
			diag.Subject.End = rawPos(diag.Subject.End, whole.Start, offsets)
		}
		if diag.Subject == nil || !encloses(whole, *diag.Subject) {
			diag.Subject = whole.Ptr()
		}
	}
	return diags
}

func encloses(outer, inner hcl.Range) bool {
	return outer.Start.Byte <= inner.Start.Byte && inner.Start.Byte <= inner.End.Byte &&
		inner.End.Byte <= outer.End.Byte && inner.End.Line <= outer.End.Line
}

// rawOffsets returns, for each offset in the text of a JSON string, the offset
// in the literal with quotes and escapes. Nil when there are no escapes.
func rawOffsets(literal []byte) []int {
	if len(literal) < 2 || literal[0] != '"' || !bytes.Contains(literal, []byte{'\\'}) {
		return nil
	}
	var offsets []int
	for i, end := 1, len(literal)-1; i < end; {
		width, size := 1, 1
		if literal[i] == '\\' {
			width, size = escape(literal[i:end])
		}
		for range size {
			offsets = append(offsets, i)
		}
		i += width
	}
	return append(offsets, len(literal)-1)
}

// escape returns how many bytes the escape at the start of s has, and how many
// bytes it stands for.
func escape(s []byte) (width, size int) {
	if len(s) < 6 || s[1] != 'u' {
		return 2, 1
	}
	r := codeUnit(s)
	if utf16.IsSurrogate(r) && len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if pair := utf16.DecodeRune(r, codeUnit(s[6:])); pair != utf8.RuneError {
			return 12, utf8.RuneLen(pair)
		}
	}
	if size := utf8.RuneLen(r); size > 0 {
		return 6, size
	}
	return 6, utf8.RuneLen(utf8.RuneError)
}

func codeUnit(s []byte) rune {
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// rawPos corrects a position in the text of a string that begins at start.
func rawPos(pos, start hcl.Pos, offsets []int) hcl.Pos {
	decoded := pos.Byte - start.Byte - 1
	if decoded < 0 || decoded >= len(offsets) {
		return hcl.Pos{Line: start.Line, Column: start.Column, Byte: -1} // nowhere
	}
	raw := offsets[decoded]
	return hcl.Pos{Line: start.Line, Column: start.Column + raw, Byte: start.Byte + raw}
}
