// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package wire encodes plain data to bytes and back, with the values, types, addresses and
// diagnostics of the runtime in it, for messages between machines.
//
// It follows the Go types, whatever these are: there is nothing to keep in step with them, and both
// ends have to be of the same version. A type that holds something other than data (a function, a
// channel, an interface) cannot be encoded, which is how the contract of engines is held to plain
// data.
//
// Of a diagnostic, the expression and its evaluation context are lost, and of its extra all but an
// [engine.DiagnosticData] and the code of its fault.
package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/safevalue"
)

// Encode returns a value as text.
func Encode(v any) ([]byte, error) { return encode(reflect.ValueOf(v)) }

// Decode reads the text that [Encode] returned for a value of the same type.
func Decode(text []byte, into any) error {
	target := reflect.ValueOf(into).Elem()
	return decode(text, target)
}

// codec is how values of one type are encoded that have no exported fields, or more than these say.
type codec struct {
	encode func(reflect.Value) (any, error)
	decode func(text []byte, into reflect.Value) error
}

// as makes a codec of functions that go through another type, which can be encoded.
func as[T, U any](to func(T) (U, error), from func(U) (T, error)) codec {
	return codec{
		encode: func(v reflect.Value) (any, error) { return to(v.Interface().(T)) },
		decode: func(text []byte, into reflect.Value) error {
			var u U
			if err := Decode(text, &u); err != nil {
				return err
			}
			t, err := from(u)
			if err == nil {
				into.Set(reflect.ValueOf(&t).Elem())
			}
			return err
		},
	}
}

// address makes a codec of the text of an address. The zero value has none.
func address[T interface {
	comparable
	String() string
}](parse func(string) (T, error)) codec {
	var zero T
	return as(
		func(addr T) (*string, error) {
			if addr == zero {
				return nil, nil
			}
			text := addr.String()
			return &text, nil
		},
		func(text *string) (T, error) {
			if text == nil {
				return zero, nil
			}
			return parse(*text)
		},
	)
}

var codecs map[reflect.Type]codec

func init() { // they refer to each other
	codecs = map[reflect.Type]codec{
		reflect.TypeFor[time.Time](): as(
			func(t time.Time) (string, error) { return t.Format(time.RFC3339Nano), nil },
			func(text string) (time.Time, error) { return time.Parse(time.RFC3339Nano, text) },
		),
		reflect.TypeFor[cty.Value](): as(encodeValue, decodeValue),
		reflect.TypeFor[cty.Type](): as(
			func(ty cty.Type) (string, error) { text, err := ctyjson.MarshalType(ty); return string(text), err },
			func(text string) (cty.Type, error) { return ctyjson.UnmarshalType([]byte(text)) },
		),
		reflect.TypeFor[cty.Path](): as(encodePath, decodePath),
		reflect.TypeFor[hcl.Diagnostic](): as(
			func(diag hcl.Diagnostic) (diagnostic, error) {
				encoded := diagnostic{diag.Severity, diag.Summary, diag.Detail, diag.Subject, diag.Context, nil}
				if data, ok := hcl.DiagnosticExtra[*engine.DiagnosticData](&diag); ok {
					encoded.Data = data
				} else if code := engine.FaultOf(&diag); code != "" {
					encoded.Data = &engine.DiagnosticData{Fault: code}
				}
				return encoded, nil
			},
			func(encoded diagnostic) (hcl.Diagnostic, error) {
				diag := hcl.Diagnostic{
					Severity: encoded.Severity, Summary: encoded.Summary, Detail: encoded.Detail, Subject: encoded.Subject, Context: encoded.Context,
				}
				if encoded.Data != nil { // else the extra would be a pointer, and nil
					diag.Extra = encoded.Data
				}
				return diag, nil
			},
		),
		reflect.TypeFor[stackaddrs.AbsComponentInstance](): address(stackaddrs.ParsePartialComponentInstance),
		reflect.TypeFor[stackaddrs.StackInstance]():        address(stackaddrs.ParseStackInstance),
		reflect.TypeFor[stackaddrs.ModuleInstance]():       address(stackaddrs.ParseModuleInstance),
		reflect.TypeFor[stackaddrs.InstanceKey](): as(
			func(key stackaddrs.InstanceKey) (instanceKey, error) {
				encoded := instanceKey{Wildcard: key.IsWildcard()}
				switch index := key.Index().(type) {
				case int:
					encoded.Int = &index
				case string:
					encoded.Text = &index
				}
				return encoded, nil
			},
			func(encoded instanceKey) (stackaddrs.InstanceKey, error) {
				switch {
				case encoded.Wildcard:
					return stackaddrs.WildcardKey, nil
				case encoded.Int != nil:
					return stackaddrs.IntKey(int64(*encoded.Int)), nil
				case encoded.Text != nil:
					return stackaddrs.StringKey(*encoded.Text), nil
				}
				return stackaddrs.NoKey, nil
			},
		),
	}
}

type instanceKey struct {
	Wildcard bool
	Int      *int
	Text     *string
}

// diagnostic is the encoding of an [hcl.Diagnostic].
type diagnostic struct {
	Severity         hcl.DiagnosticSeverity
	Summary, Detail  string
	Subject, Context *hcl.Range
	Data             *engine.DiagnosticData
}

// value is the encoding of a [cty.Value]; nil stands for [cty.NilVal].
type value struct {
	MessagePack          []byte // with the type
	Sensitive, Ephemeral []cty.Path
}

func encodeValue(v cty.Value) (*value, error) {
	if v == cty.NilVal {
		return nil, nil
	}
	bare, sensitive, ephemeral := marks.Split(v)
	text, err := ctymsgpack.Marshal(bare, cty.DynamicPseudoType)
	return &value{text, sensitive, ephemeral}, err
}

func decodeValue(encoded *value) (cty.Value, error) {
	if encoded == nil {
		return cty.NilVal, nil
	}
	bare, err := safevalue.Unmarshal(encoded.MessagePack, cty.DynamicPseudoType)
	return marks.Join(bare, encoded.Sensitive, encoded.Ephemeral), err
}

// step is the encoding of a step of a path: of an attribute, or of an index.
type step struct {
	Attribute string
	Index     cty.Value
}

func encodePath(path cty.Path) ([]step, error) {
	steps := []step{}
	for _, one := range path {
		switch one := one.(type) {
		case cty.GetAttrStep:
			steps = append(steps, step{Attribute: one.Name})
		case cty.IndexStep:
			steps = append(steps, step{Index: one.Key})
		default:
			return nil, fmt.Errorf("a path has a step %T", one)
		}
	}
	return steps, nil
}

func decodePath(steps []step) (cty.Path, error) {
	var path cty.Path
	for _, one := range steps {
		if one.Index == cty.NilVal {
			path = path.GetAttr(one.Attribute)
		} else {
			path = path.Index(one.Index)
		}
	}
	return path, nil
}

// isJSON reports whether a type says itself how it is encoded. Those of terraform's JSON formats
// do.
func isJSON(t reflect.Type) bool {
	return strings.HasSuffix(t.PkgPath(), "/terraform-json") || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

var null = []byte("null")

func encode(v reflect.Value) ([]byte, error) {
	if found, ok := codecs[v.Type()]; ok {
		encoded, err := found.encode(v)
		if err != nil {
			return nil, err
		}
		return encode(reflect.ValueOf(encoded))
	}
	switch kind := v.Kind(); {
	case isJSON(v.Type()) && kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return json.Marshal(v.Bytes()) // as it is, also if it is JSON itself
	case isJSON(v.Type()), kind == reflect.Bool, kind == reflect.String, v.CanInt(), v.CanUint(), v.CanFloat():
		return json.Marshal(v.Interface())
	case kind == reflect.Pointer:
		if v.IsNil() {
			return null, nil
		}
		return encode(v.Elem())
	case kind == reflect.Slice:
		if v.IsNil() {
			return null, nil
		}
		parts := make([]json.RawMessage, v.Len())
		for i := range parts {
			var err error
			if parts[i], err = encode(v.Index(i)); err != nil {
				return nil, err
			}
		}
		return json.Marshal(parts)
	case kind == reflect.Map:
		return encodeMap(v)
	case kind == reflect.Struct:
		return encodeStruct(v)
	default:
		return nil, fmt.Errorf("%s is not data", v.Type())
	}
}

// encodeMap returns a list of pairs: keys may be structs.
func encodeMap(v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return null, nil
	}
	pairs := make([][2]json.RawMessage, 0, v.Len())
	for entry := v.MapRange(); entry.Next(); {
		key, err := encode(entry.Key())
		if err != nil {
			return nil, err
		}
		element, err := encode(entry.Value())
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, [2]json.RawMessage{key, element})
	}
	slices.SortFunc(pairs, func(a, b [2]json.RawMessage) int { return bytes.Compare(a[0], b[0]) })
	return json.Marshal(pairs)
}

func encodeStruct(v reflect.Value) ([]byte, error) {
	fields := make(map[string]json.RawMessage, v.NumField())
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() {
			return nil, fmt.Errorf("%s has a field %s that cannot be seen", v.Type(), field.Name)
		}
		text, err := encode(v.Field(i))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field.Name, err)
		}
		fields[field.Name] = text
	}
	return json.Marshal(fields)
}

func decode(text []byte, into reflect.Value) error {
	if found, ok := codecs[into.Type()]; ok {
		return found.decode(text, into)
	}
	switch kind := into.Kind(); {
	case isJSON(into.Type()) && kind == reflect.Slice && into.Type().Elem().Kind() == reflect.Uint8:
		var content []byte
		err := json.Unmarshal(text, &content)
		if content != nil {
			into.SetBytes(content)
		}
		return err
	case isJSON(into.Type()), kind == reflect.Bool, kind == reflect.String, into.CanInt(), into.CanUint(), into.CanFloat():
		return json.Unmarshal(text, into.Addr().Interface())
	case bytes.Equal(text, null):
		into.SetZero()
		return nil
	case kind == reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return decode(text, into.Elem())
	case kind == reflect.Slice:
		var parts []json.RawMessage
		if err := json.Unmarshal(text, &parts); err != nil {
			return err
		}
		into.Set(reflect.MakeSlice(into.Type(), len(parts), len(parts)))
		for i, part := range parts {
			if err := decode(part, into.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case kind == reflect.Map:
		return decodeMap(text, into)
	case kind == reflect.Struct:
		return decodeStruct(text, into)
	default:
		return fmt.Errorf("%s is not data", into.Type())
	}
}

func decodeMap(text []byte, into reflect.Value) error {
	var pairs [][2]json.RawMessage
	if err := json.Unmarshal(text, &pairs); err != nil {
		return err
	}
	into.Set(reflect.MakeMapWithSize(into.Type(), len(pairs)))
	for _, pair := range pairs {
		key, element := reflect.New(into.Type().Key()).Elem(), reflect.New(into.Type().Elem()).Elem()
		if err := decode(pair[0], key); err != nil {
			return err
		}
		if err := decode(pair[1], element); err != nil {
			return err
		}
		into.SetMapIndex(key, element)
	}
	return nil
}

func decodeStruct(text []byte, into reflect.Value) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	for i := range into.NumField() {
		name := into.Type().Field(i).Name
		if err := decode(fields[name], into.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
