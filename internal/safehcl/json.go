// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package safehcl

import (
	"bytes"
	"encoding/json"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// checkJSON follows the brackets and strings of a file as HCL's JSON scanner does, which ends a
// string at the end of a line.
func checkJSON(src []byte, filename string) hcl.Diagnostics {
	depth, digits := 0, 0
	for i := 0; i < len(src); i++ {
		digits++
		switch char := src[i]; {
		case char == '"':
			end := endOfString(src, i)
			if diags := checkString(src[i:end]); diags.HasErrors() {
				at := placeOf(src, i, filename) // where in the text it is means little: escapes have moved that
				diags[0].Subject = &at
				return diags
			}
			i = end - 1
		case char == '[' || char == '{':
			depth++
		case char == ']' || char == '}':
			depth--
		case char >= '0' && char <= '9':
			if digits > MaxDigits {
				return hcl.Diagnostics{tooManyDigits(placeOf(src, i, filename))}
			}
			continue
		case char == 'e' || char == 'E':
			if exponentTooLarge(src[i:endOfNumber(src, i)]) {
				return hcl.Diagnostics{tooLarge(placeOf(src, i, filename))}
			}
		}
		digits = 0
		if depth > MaxDepth {
			return hcl.Diagnostics{tooDeep(placeOf(src, i, filename))}
		}
	}
	return nil
}

// endOfString returns the offset after the string that begins at start.
func endOfString(src []byte, start int) int {
	for i := start + 1; i < len(src); i++ {
		switch char := src[i]; {
		case char == '"':
			return i + 1
		case char < ' ':
			return i
		case char == '\\' && i+1 < len(src) && src[i+1] >= ' ':
			i++
		}
	}
	return len(src)
}

// endOfNumber returns the offset after the exponent that begins with its letter at start.
func endOfNumber(src []byte, start int) int {
	end := start + 1
	for end < len(src) && (src[end] == '+' || src[end] == '-' || src[end] >= '0' && src[end] <= '9') {
		end++
	}
	return end
}

// checkString checks a string as the template that HCL takes it for.
func checkString(literal []byte) hcl.Diagnostics {
	escaped := bytes.Contains(literal, []byte(`\u`)) // may stand for a brace, or a digit
	if !escaped && (bytes.IndexByte(literal, '{') < 0 || surelyHarmless(literal)) {
		return nil
	}
	var text string
	if json.Unmarshal(literal, &text) != nil {
		return nil //nolint:nilerr // the parser reports it
	}
	return check(hclsyntax.LexTemplate, []byte(text), "", hcl.InitialPos)
}

// placeOf returns the range of one byte.
func placeOf(src []byte, offset int, filename string) hcl.Range {
	lineStart := bytes.LastIndexByte(src[:offset], '\n') + 1
	start := hcl.Pos{Line: bytes.Count(src[:offset], []byte("\n")) + 1, Column: offset - lineStart + 1, Byte: offset}
	return hcl.Range{Filename: filename, Start: start, End: hcl.Pos{Line: start.Line, Column: start.Column + 1, Byte: offset + 1}}
}
