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

// The texts for values that are not known: those that a plan leaves to its apply, and those that
// the last apply has left in the state because it failed, was interrupted, deferred or left out the
// objects they are made of.
const (
	KnownAfterApply = "(known after apply)"
	NotKnown        = "(not known yet)"
)

// Value is a tree of values as they are shown: secret and unknown parts are marked, and types are
// reduced to those that a reader can tell apart.
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

// FromJSON builds a tree from a JSON value and the parallel tree of its sensitive places, as a
// state has them. Where that has true, everything below is sensitive.
func FromJSON(value, sensitive any) *Value {
	if sensitive == true {
		v := *FromJSON(value, nil)
		v.Sensitive = true
		return &v
	}
	switch value := value.(type) {
	case map[string]any:
		sensitiveParts, _ := sensitive.(map[string]any)
		v := &Value{Kind: Object, Parts: make(map[string]*Value, len(value))}
		for name, part := range value {
			v.Parts[name] = FromJSON(part, sensitiveParts[name])
		}
		v.sortNames()
		return v
	case []any:
		sensitiveParts, _ := sensitive.([]any)
		v := &Value{Kind: List}
		for i, element := range value {
			var hidden any
			if i < len(sensitiveParts) {
				hidden = sensitiveParts[i]
			}
			v.Elements = append(v.Elements, FromJSON(element, hidden))
		}
		return v
	case nil:
		return nullValue
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

func (v *Value) sortNames() {
	v.Names = make([]string, 0, len(v.Parts))
	for name := range v.Parts {
		v.Names = append(v.Names, name)
	}
	slices.Sort(v.Names)
}

// FromCty builds a tree from a value with its marks. [cty.NilVal] gives nil.
// Other marks than those of package marks hide the value too.
func FromCty(value cty.Value) *Value { return fromCty(value, true) }

// FromResource is [FromCty] for an object of a resource instance. There the keys of maps are not in
// quotes, so that it looks the same with a schema and without. There is always an object: null for
// [cty.NilVal].
func FromResource(value cty.Value) *Value {
	if value == cty.NilVal {
		return nullValue
	}
	return fromCty(value, false)
}

func fromCty(value cty.Value, quoteKeys bool) *Value {
	if value == cty.NilVal {
		return nil
	}
	if !value.IsMarked() {
		return fromBareCty(value, quoteKeys)
	}
	_, own := value.Unmark()
	bare, _ := value.UnmarkDeep() // nothing below it is shown
	hidden := *fromBareCty(bare, quoteKeys)
	_, hidden.Ephemeral = own[marks.Ephemeral]
	hidden.Sensitive = !hidden.Ephemeral || len(own) > 1
	return &hidden
}

func fromBareCty(value cty.Value, quoteKeys bool) *Value {
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
		v := &Value{Kind: Object, Parts: map[string]*Value{}, QuoteKeys: quoteKeys && ty.IsMapType()}
		for name, part := range value.AsValueMap() {
			v.Parts[name] = fromCty(part, quoteKeys)
		}
		v.sortNames()
		return v
	case ty.IsListType(), ty.IsSetType(), ty.IsTupleType():
		v := &Value{Kind: List}
		for _, element := range value.AsValueSlice() {
			v.Elements = append(v.Elements, fromCty(element, quoteKeys))
		}
		return v
	}
	// A capsule, such as a provider reference, has nothing to show but its type.
	return &Value{Kind: Number, Text: ty.FriendlyName()}
}

// Known returns the value without its unknown parts, as if they were not there: nil if nothing of
// it is known.
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

// Equal reports whether two values look the same, secrets compared by their values.
func Equal(a, b *Value) bool {
	return a == b || a.key() == b.key()
}

// equalWhenShown compares without regard to marks at the top.
func equalWhenShown(a, b *Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	bareA, bareB := *a, *b
	bareA.Sensitive, bareA.Ephemeral = false, false
	bareB.Sensitive, bareB.Ephemeral = false, false
	return Equal(&bareA, &bareB)
}
