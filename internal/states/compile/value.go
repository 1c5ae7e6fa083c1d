// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Map is a mapping that keeps its order. Values are nil, bool, int64, float64, string, []any and
// *Map. The zero value is empty.
type Map struct {
	Entries []Entry
}

// Entry is one key of a [Map] with its value.
type Entry struct {
	Key   string
	Value any
}

// Get returns the value of a key, nil if there is none. A nil map is empty.
func (m *Map) Get(key string) any {
	value, _ := m.Lookup(key)
	return value
}

// Lookup is [Map.Get] that reports whether there is such a key.
func (m *Map) Lookup(key string) (any, bool) {
	if m == nil {
		return nil, false
	}
	for _, entry := range m.Entries {
		if entry.Key == key {
			return entry.Value, true
		}
	}
	return nil, false
}

// Set adds a key, or changes its value.
func (m *Map) Set(key string, value any) {
	for i := range m.Entries {
		if m.Entries[i].Key == key {
			m.Entries[i].Value = value
			return
		}
	}
	m.Entries = append(m.Entries, Entry{key, value})
}

// Len is the number of keys.
func (m *Map) Len() int {
	if m == nil {
		return 0
	}
	return len(m.Entries)
}

// MarshalJSON implements [json.Marshaler].
func (m *Map) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, entry := range m.Entries {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := appendJSON(&b, entry.Key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := appendJSON(&b, entry.Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *Map) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	value, err := decodeJSON(decoder)
	if err != nil {
		return err
	}
	read, ok := value.(*Map)
	if !ok {
		return fmt.Errorf("it is a %s where an object is needed", kindOf(value))
	}
	*m = *read
	return nil
}

func decodeJSON(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return decodeObject(decoder)
		}
		return decodeArray(decoder)
	case json.Number:
		if i, err := token.Int64(); err == nil {
			return i, nil
		}
		return token.Float64()
	}
	return token, nil
}

func decodeObject(decoder *json.Decoder) (any, error) {
	m := &Map{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		value, err := decodeJSON(decoder)
		if err != nil {
			return nil, err
		}
		m.Set(fmt.Sprint(key), value)
	}
	_, err := decoder.Token()
	return m, err
}

func decodeArray(decoder *json.Decoder) (any, error) {
	list := []any{}
	for decoder.More() {
		value, err := decodeJSON(decoder)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := decoder.Token()
	return list, err
}

func appendJSON(b *bytes.Buffer, value any) error {
	if number, ok := value.(float64); ok && (math.IsInf(number, 0) || math.IsNaN(number)) {
		value = strconv.FormatFloat(number, 'g', -1, 64) // JSON has no such numbers
	}
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the line break
	return nil
}

// WriteJSON writes a value as an indented document.
func WriteJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// WriteYAML writes a value as a document.
func WriteYAML(w io.Writer, value any) error {
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(toYAML(value)); err != nil {
		return err
	}
	return encoder.Close()
}

// toYAML returns a node that readers of YAML 1.1 and of YAML 1.2 read as the value.
func toYAML(value any) *yaml.Node {
	switch value := value.(type) {
	case *Map:
		node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, entry := range value.Entries {
			node.Content = append(node.Content, toYAML(entry.Key), toYAML(entry.Value))
		}
		return node
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, element := range value {
			node.Content = append(node.Content, toYAML(element))
		}
		return node
	case string:
		node := &yaml.Node{}
		node.SetString(value)
		if oldScalar.MatchString(value) || strings.ContainsAny(value, oldBreaks) {
			node.Style = yaml.DoubleQuotedStyle
		}
		return node
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(value)}
	case int64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(value, 10)}
	case float64:
		var node yaml.Node
		if err := node.Encode(value); err == nil {
			if whole, exponent, ok := strings.Cut(node.Value, "e"); ok && !strings.Contains(whole, ".") {
				node.Value = whole + ".0e" + exponent // without a point it is a string in YAML 1.1
			}
			return &node
		}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}

// oldScalar matches texts that YAML 1.1 takes for something else than a string if there are no
// quotes: numbers, also those of minutes and seconds, "<<", "=" and words for true and false.
var oldScalar = regexp.MustCompile(`^([-+]?[0-9][0-9_]*(:[0-5]?[0-9])*(\.[0-9_]*)?|<<.*|=|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)$`)

// oldBreaks are breaks of lines in YAML 1.1 alone.
const oldBreaks = "\u0085\u2028\u2029"

// Text returns a value as a word: as it stands for a name or in a command line. Lists and mappings
// have none.
func Text(value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return value, true
	case bool:
		return strconv.FormatBool(value), true
	case int64:
		return strconv.FormatInt(value, 10), true
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64), true
	}
	return "", false
}

// kindOf names the kind of a value, for messages.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case int64, float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "list"
	}
	return "mapping"
}
