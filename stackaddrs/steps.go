// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// step is one step of an address: a name, or an index with its brackets.
type step struct {
	kind stepKind
	name string
	key  InstanceKey
	end  int // offset in the text
}

type stepKind uint8

const (
	nameStep  stepKind = iota
	keyStep            // with an instance key
	indexStep          // with something that cannot be one, like 1.5
)

// splitSteps splits an address into its steps. [*] is one of a partial address only.
//
// Nearly all addresses are in states and plans, thousands of them, and in plain ASCII. They are
// split here; those with escapes or other letters, those that are written in another way than they
// are printed, and those that are wrong are left to hcl.
func splitSteps(s, kind string, partial bool) ([]step, error) {
	if steps, ok := scanSteps(s, partial); ok {
		return steps, nil
	}
	parse := hclsyntax.ParseTraversalAbs
	if partial {
		parse = hclsyntax.ParseTraversalPartial
	}
	traversal, diags := parse([]byte(s), "", hcl.InitialPos)
	if diags.HasErrors() {
		return nil, fmt.Errorf("not a %s address: %q: %s", kind, s, diags[0].Detail)
	}
	return traversalSteps(traversal), nil
}

func traversalSteps(traversal hcl.Traversal) []step {
	steps := make([]step, len(traversal))
	for i, from := range traversal {
		to := &steps[i]
		to.end = from.SourceRange().End.Byte
		switch from := from.(type) {
		case hcl.TraverseRoot:
			to.name = from.Name
		case hcl.TraverseAttr:
			to.name = from.Name
		case hcl.TraverseSplat:
			to.kind, to.key = keyStep, WildcardKey
		case hcl.TraverseIndex:
			to.kind = indexStep
			if key, ok := KeyFromValue(from.Key); ok {
				to.kind, to.key = keyStep, key
			}
		}
	}
	return steps
}

// scanSteps splits an address that is as it would be printed, and has no need of escapes.
func scanSteps(s string, partial bool) (steps []step, ok bool) {
	steps = make([]step, 0, 1+strings.Count(s, ".")+strings.Count(s, "["))
	for pos := 0; ; pos++ { // past the dot
		size := nameSize(s[pos:])
		if size == 0 {
			return nil, false
		}
		steps = append(steps, step{name: s[pos : pos+size], end: pos + size})
		pos += size
		for pos < len(s) && s[pos] == '[' {
			key, size := scanKey(s[pos:])
			if size == 0 || key == WildcardKey && !partial {
				return nil, false
			}
			pos += size
			steps = append(steps, step{kind: keyStep, key: key, end: pos})
		}
		if pos == len(s) {
			return steps, true
		}
		if s[pos] != '.' {
			return nil, false
		}
	}
}

// nameSize returns the size of the plain name that s begins with.
func nameSize(s string) int {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c != '-' && !isDigit(c)) {
			return i
		}
	}
	return len(s)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// scanKey returns the instance key that s begins with, in brackets, and its size including the
// brackets. The size is 0 for any key that takes more to read.
func scanKey(s string) (key InstanceKey, size int) {
	if strings.HasPrefix(s, "[*]") {
		return WildcardKey, len("[*]")
	}
	if text, ok := strings.CutPrefix(s, `["`); ok {
		end := strings.IndexByte(text, '"')
		if end < 0 || !isPlain(text[:end]) || !strings.HasPrefix(text[end:], `"]`) {
			return NoKey, 0
		}
		return StringKey(text[:end]), end + len(`[""]`)
	}
	end := strings.IndexByte(s, ']')
	if end < 2 || end > len("[999999999999999999") || !isDigit(s[1]) || s[1] == '0' && end > len("[0") {
		return NoKey, 0
	}
	n, err := strconv.ParseInt(s[1:end], 10, 64)
	if err != nil {
		return NoKey, 0
	}
	return IntKey(n), end + 1
}

// isPlain reports whether a text stands in quotes as it is.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '\\' || c == '$' || c == '%' {
			return false
		}
	}
	return true
}
