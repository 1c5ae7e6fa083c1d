// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"github.com/zclconf/go-cty/cty"
)

// InstanceKey distinguishes the instances of one block. The zero value is [NoKey].
type InstanceKey struct {
	kind keyKind
	num  int64
	str  string
}

type keyKind uint8

const (
	keyNone keyKind = iota
	keyInt
	keyString
	keyWildcard
)

var (
	// NoKey is the key of the only instance of a block without for_each.
	NoKey = InstanceKey{}

	// WildcardKey stands for all the instances that are not known yet. It
	// appears in plans only and is printed as [*].
	WildcardKey = InstanceKey{kind: keyWildcard}
)

// StringKey is the key of an instance that for_each made. The text is normalized
// as all strings of the language are.
func StringKey(s string) InstanceKey {
	return InstanceKey{kind: keyString, str: cty.NormalizeString(strings.ToValidUTF8(s, "\uFFFD"))}
}

// IntKey is an integer key, zero or more. for_each never makes one: they can be
// written in the "from" argument of a removed block, and count makes them inside
// of modules.
func IntKey(n int64) InstanceKey { return InstanceKey{kind: keyInt, num: n} }

// IsWildcard reports whether k is [WildcardKey].
func (k InstanceKey) IsWildcard() bool { return k.kind == keyWildcard }

// AsString returns the text of a string key, and whether k is one.
func (k InstanceKey) AsString() (string, bool) { return k.str, k.kind == keyString }

// String returns the index step that selects the instance: "", "[0]",
// "[\"k\"]" or "[*]".
func (k InstanceKey) String() string {
	switch k.kind {
	case keyInt:
		return "[" + strconv.FormatInt(k.num, 10) + "]"
	case keyString:
		return "[" + quote(k.str) + "]"
	case keyWildcard:
		return "[*]"
	default:
		return ""
	}
}

// Index returns the key as JSON documents have it: a string, an int, or nil where there is no key
// or it is not known.
func (k InstanceKey) Index() any {
	switch k.kind {
	case keyInt:
		return int(k.num)
	case keyString:
		return k.str
	default:
		return nil
	}
}

// Value returns the key as expressions see it in each.key.
//
// Null: for [NoKey]. Unknown: a string that is not null, for [WildcardKey].
func (k InstanceKey) Value() cty.Value {
	switch k.kind {
	case keyInt:
		return cty.NumberIntVal(k.num)
	case keyString:
		return cty.StringVal(k.str)
	case keyWildcard:
		return cty.UnknownVal(cty.String).RefineNotNull()
	default:
		return cty.NullVal(cty.String)
	}
}

// KeyFromValue turns an index value into a key, the reverse of [InstanceKey.Value].
//
// Strings and whole numbers that are not negative are keys; an unknown value that could still
// become one is the wildcard. ok is false for anything else, null included. Marks must have been
// removed.
func KeyFromValue(v cty.Value) (key InstanceKey, ok bool) {
	ty := v.Type()
	if ty != cty.String && ty != cty.Number && ty != cty.DynamicPseudoType {
		return NoKey, false
	}
	if !v.IsKnown() {
		return WildcardKey, true
	}
	if v.IsNull() {
		return NoKey, false
	}
	if ty == cty.String {
		return StringKey(v.AsString()), true
	}
	n, accuracy := v.AsBigFloat().Int64()
	if accuracy != big.Exact || n < 0 {
		return NoKey, false
	}
	return IntKey(n), true
}

// Compare orders keys as rule A4 says.
func (k InstanceKey) Compare(other InstanceKey) int {
	return cmp.Or(
		cmp.Compare(k.kind, other.kind),
		cmp.Compare(k.num, other.num),
		cmp.Compare(k.str, other.str),
	)
}

// quote writes s as an HCL quoted string without interpolation.
func quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i, r := range s {
		switch r {
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '$', '%':
			b.WriteRune(r)
			if strings.HasPrefix(s[i+1:], "{") {
				b.WriteRune(r)
			}
		default:
			writePrintable(&b, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func writePrintable(b *strings.Builder, r rune) {
	switch {
	case unicode.IsPrint(r):
		b.WriteRune(r)
	case r > 0xffff:
		b.WriteString(`\U` + hex(r, 8))
	default:
		b.WriteString(`\u` + hex(r, 4))
	}
}

func hex(r rune, width int) string {
	text := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", width-len(text)) + text
}
