// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// A state is mostly attributes that nobody looks into. So it is checked and compacted as a whole
// once, and then split without copying any of it. The functions below take compact JSON, which is
// valid.

// compact returns JSON text without white space between its tokens, and fails if it is not valid.
func compact(text []byte) (json.RawMessage, error) {
	var b bytes.Buffer
	b.Grow(len(text))
	if err := json.Compact(&b, text); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// isObject reports whether a value is a JSON object, isList whether it is a list.
func isObject(value json.RawMessage) bool { return len(value) > 0 && value[0] == '{' }
func isList(value json.RawMessage) bool   { return len(value) > 0 && value[0] == '[' }

// isNull reports whether a value is missing or null.
func isNull(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }

// members returns the members of an object in the order of the text.
func members(object json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for i := 1; object[i] != '}'; {
			if object[i] == ',' {
				i++
			}
			colon := valueEnd(object, i)
			end := valueEnd(object, colon+1)
			if !yield(decodeString(object[i:colon]), object[colon+1:end:end]) {
				return
			}
			i = end
		}
	}
}

// elements returns the elements of a list.
func elements(list json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for i := 1; list[i] != ']'; {
			if list[i] == ',' {
				i++
			}
			end := valueEnd(list, i)
			if !yield(list[i:end:end]) {
				return
			}
			i = end
		}
	}
}

// valueEnd returns where the value ends that starts at an offset.
func valueEnd(text []byte, start int) int {
	depth := 0
	for i := start; ; i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		default:
			if depth == 0 {
				return wordEnd(text, i)
			}
		}
	}
}

// wordEnd returns where a number ends, or true, false or null.
func wordEnd(text []byte, start int) int {
	for i := start; ; i++ {
		switch text[i] {
		case ',', ']', '}':
			return i
		}
	}
}

// stringEnd returns the offset of the closing quotation mark.
func stringEnd(text []byte, start int) int {
	for i := start + 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
}

// decodeString returns the text of a JSON string.
func decodeString(quoted json.RawMessage) string {
	text := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return string(text)
	}
	var decoded string
	if err := json.Unmarshal(quoted, &decoded); err != nil {
		panic("decoding a valid string: " + err.Error())
	}
	return decoded
}

// stringMember decodes a member that is a string if it is there.
func stringMember(into *string, name string, value json.RawMessage) error {
	if isNull(value) {
		return nil
	}
	if value[0] != '"' {
		return fmt.Errorf("%s is not a string", name)
	}
	*into = decodeString(value)
	return nil
}

// headOrder has the names that come first in objects, as terraform writes them.
var headOrder = []string{
	"version", "terraform_version", "serial", "lineage", "outputs", "resources", // documents
	"module", "mode", "type", "name", "provider", // entries of resources
}

// object is a JSON object that is printed in the order of rule D2.
type object map[string]json.RawMessage

func objectOf(value json.RawMessage) object {
	o := object{}
	for name, member := range members(value) {
		o[name] = member
	}
	return o
}

// appendTo appends the object as text.
func (o object) appendTo(out []byte) json.RawMessage {
	names := make([]string, 0, len(o))
	size := len(out) + len("{}")
	for name, value := range o {
		names = append(names, name)
		size += len(name) + len(value) + len(`"":,`)
	}
	slices.SortFunc(names, compareNames)
	out = append(slices.Grow(out, size-len(out)), '{')
	for _, name := range names {
		out = appendMember(out, name, o[name])
	}
	return append(out, '}')
}

// compareNames gives the order of rule D2.
func compareNames(a, b string) int {
	return cmp.Or(cmp.Compare(headRank(a), headRank(b)), strings.Compare(a, b))
}

// appendMember appends a member to the text of an object that has its opening brace at least.
func appendMember(out []byte, name string, value []byte) []byte {
	if out[len(out)-1] != '{' {
		out = append(out, ',')
	}
	out = append(appendName(out, name), ':')
	return append(out, value...)
}

// appendName appends the name of a member. Most are words, which are quoted as they are.
func appendName(out []byte, name string) []byte {
	isWord := !strings.ContainsFunc(name, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
	if !isWord {
		return append(out, encode(name)...)
	}
	return append(append(append(out, '"'), name...), '"')
}

func headRank(name string) int {
	if i := slices.Index(headOrder, name); i >= 0 {
		return i
	}
	return len(headOrder)
}

// encode returns a value of a type that always has JSON.
func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic("encoding a member of a state: " + err.Error())
	}
	return data
}

// setMembers returns an object with other values of some members. Those that are nil are removed.
func setMembers(value json.RawMessage, values map[string]any) json.RawMessage {
	o := objectOf(value)
	for name, v := range values {
		if v == nil {
			delete(o, name)
		} else {
			o[name] = encode(v)
		}
	}
	return o.appendTo(nil)
}
