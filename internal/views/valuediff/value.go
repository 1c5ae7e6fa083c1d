// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package valuediff

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Kind is the kind of a [Value].
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Unknown
	Bool
	Number
	String
	List   // list, set or tuple
	Object // object or map
)

// What stands for values that are not known: those that a plan leaves to its apply, and those that the last apply
// has left in the state because it failed, was interrupted, deferred or left out what they are made of.
const (
	KnownAfterApply = "(known after apply)"
	NotKnown        = "(not known yet)"
)

// Value is a tree of values as they are shown: what is secret or unknown is
// marked, and types are reduced to what a reader sees.
type Value struct {
	Kind      Kind
	Text      string // of a Bool, Number or String
	Elements  []*Value
	Names     []string // of an Object, sorted
	Parts     map[string]*Value
	QuoteKeys bool // an Object whose names are arbitrary strings

	// Sensitive and Ephemeral values are never shown, nor anything below them.
	Sensitive, Ephemeral bool
}

var (
	nullValue    = &Value{Kind: Null}
	unknownValue = &Value{Kind: Unknown}
)

// FromJSON builds a tree from the three parallel trees that Terraform's JSON
// output has for a value: the value, where it is unknown, and where sensitive.
// Where the last two say true, everything below is unknown or sensitive.
func FromJSON(value, unknown, sensitive any) *Value {
	if sensitive == true {
		v := *FromJSON(value, unknown, nil)
		v.Sensitive = true
		return &v
	}
	if unknown == true {
		return unknownValue
	}
	switch value := value.(type) {
	case map[string]any:
		return objectFromJSON(value, unknown, sensitive)
	case []any:
		return listFromJSON(value, unknown, sensitive)
	case nil:
		return emptyFromJSON(unknown, sensitive)
	case bool:
		return &Value{Kind: Bool, Text: strconv.FormatBool(value)}
	case string:
		return &Value{Kind: String, Text: value}
	case json.Number:
		return &Value{Kind: Number, Text: numberText(value.String())}
	case float64:
		return &Value{Kind: Number, Text: strconv.FormatFloat(value, 'f', -1, 64)}
	}
	return &Value{Kind: Number, Text: fmt.Sprint(value)} // the integer types of callers
}

// emptyFromJSON is for an absent value, whose parts may still be listed as unknown.
func emptyFromJSON(unknown, sensitive any) *Value {
	switch unknown := unknown.(type) {
	case map[string]any:
		if anyTrue(unknown) {
			return objectFromJSON(nil, unknown, sensitive)
		}
	case []any:
		if anyTrue(unknown) {
			return listFromJSON(nil, unknown, sensitive)
		}
	}
	return nullValue
}

func anyTrue(tree any) bool {
	switch tree := tree.(type) {
	case bool:
		return tree
	case map[string]any:
		for _, part := range tree {
			if anyTrue(part) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(tree, anyTrue)
	}
	return false
}

func objectFromJSON(value map[string]any, unknown, sensitive any) *Value {
	unknownParts, _ := unknown.(map[string]any)
	sensitiveParts, _ := sensitive.(map[string]any)
	v := &Value{Kind: Object, Parts: make(map[string]*Value, len(value))}
	for name, part := range value {
		v.Parts[name] = FromJSON(part, unknownParts[name], sensitiveParts[name])
	}
	for name, part := range unknownParts {
		if _, ok := value[name]; !ok && anyTrue(part) {
			v.Parts[name] = FromJSON(nil, part, sensitiveParts[name])
		}
	}
	v.sortNames()
	return v
}

func listFromJSON(value []any, unknown, sensitive any) *Value {
	unknownParts, _ := unknown.([]any)
	sensitiveParts, _ := sensitive.([]any)
	v := &Value{Kind: List}
	for i := range max(len(value), len(unknownParts)) {
		v.Elements = append(v.Elements, FromJSON(at(value, i), at(unknownParts, i), at(sensitiveParts, i)))
	}
	return v
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func (v *Value) sortNames() {
	v.Names = make([]string, 0, len(v.Parts))
	for name := range v.Parts {
		v.Names = append(v.Names, name)
	}
	slices.Sort(v.Names)
}

// FromCty builds a tree from a value with its marks. [cty.NilVal] gives nil.
// Other marks than those of package marks hide the value too.
func FromCty(value cty.Value) *Value {
	if value == cty.NilVal {
		return nil
	}
	bare, own := value.Unmark()
	v := fromBareCty(bare)
	if len(own) > 0 {
		hidden := *v
		_, hidden.Ephemeral = own[marks.Ephemeral]
		hidden.Sensitive = !hidden.Ephemeral || len(own) > 1
		return &hidden
	}
	return v
}

func fromBareCty(value cty.Value) *Value {
	ty := value.Type()
	switch {
	case !value.IsKnown():
		return unknownValue
	case value.IsNull():
		return nullValue
	case ty == cty.Bool:
		return &Value{Kind: Bool, Text: strconv.FormatBool(value.True())}
	case ty == cty.String:
		return &Value{Kind: String, Text: value.AsString()}
	case ty == cty.Number:
		return &Value{Kind: Number, Text: value.AsBigFloat().Text('f', -1)}
	case ty.IsMapType(), ty.IsObjectType():
		v := &Value{Kind: Object, Parts: map[string]*Value{}, QuoteKeys: ty.IsMapType()}
		for name, part := range value.AsValueMap() {
			v.Parts[name] = FromCty(part)
		}
		v.sortNames()
		return v
	case ty.IsListType(), ty.IsSetType(), ty.IsTupleType():
		v := &Value{Kind: List}
		for _, element := range value.AsValueSlice() {
			v.Elements = append(v.Elements, FromCty(element))
		}
		return v
	}
	// A capsule, such as a provider reference, has nothing to show but its type.
	return &Value{Kind: Number, Text: ty.FriendlyName()}
}

// Known returns the value without what is not known, as if it were not there: nil if nothing of it is known.
func (v *Value) Known() *Value {
	if v == nil || v.Kind == Unknown {
		return nil
	}
	known := *v
	known.Elements, known.Parts = nil, map[string]*Value{}
	for _, element := range v.Elements {
		if element = element.Known(); element != nil {
			known.Elements = append(known.Elements, element)
		}
	}
	for name, part := range v.Parts {
		if part = part.Known(); part != nil {
			known.Parts[name] = part
		}
	}
	known.sortNames()
	return &known
}

// numberText writes a JSON number without an exponent where that is short.
func numberText(text string) string {
	if !strings.ContainsAny(text, "eE") {
		return text
	}
	number, _, err := big.ParseFloat(text, 10, 512, big.ToNearestEven)
	if err != nil || number.MantExp(nil) > 400 || number.MantExp(nil) < -400 {
		return text
	}
	return number.Text('f', -1)
}

func (v *Value) hidden() bool { return v != nil && (v.Sensitive || v.Ephemeral) }

// key is a text that is the same for two values exactly if they look the same.
func (v *Value) key() string {
	var b strings.Builder
	v.writeKey(&b)
	return b.String()
}

func (v *Value) writeKey(b *strings.Builder) {
	if v == nil {
		b.WriteByte('-')
		return
	}
	b.WriteByte('a' + byte(v.Kind))
	if v.Sensitive {
		b.WriteByte('!')
	}
	if v.Ephemeral {
		b.WriteByte('?')
	}
	b.WriteString(strconv.Itoa(len(v.Text) + len(v.Elements) + len(v.Names)))
	b.WriteByte(':')
	b.WriteString(v.Text)
	for _, element := range v.Elements {
		element.writeKey(b)
	}
	for _, name := range v.Names {
		b.WriteString(strconv.Itoa(len(name)))
		b.WriteByte(':')
		b.WriteString(name)
		v.Parts[name].writeKey(b)
	}
}

// Equal tells whether two values look the same, secrets compared by what they are.
func Equal(a, b *Value) bool {
	return a == b || a.key() == b.key()
}

// equalWhenShown compares without regard to what is hidden at the top.
func equalWhenShown(a, b *Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	bareA, bareB := *a, *b
	bareA.Sensitive, bareA.Ephemeral = false, false
	bareB.Sensitive, bareB.Ephemeral = false, false
	return Equal(&bareA, &bareB)
}
