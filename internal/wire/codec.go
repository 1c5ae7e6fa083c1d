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
	"errors"
	"fmt"
	"reflect"
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

// Encode returns a value as MessagePack. Equal values have equal encodings.
func Encode(v any) ([]byte, error) {
	e := newEncoder()
	err := e.encode(reflect.ValueOf(v))
	return e.content.Bytes(), err
}

// Decode reads the content that [Encode] returned for a value of the same type.
func Decode(content []byte, into any) error {
	d := newDecoder(content)
	if err := d.decode(reflect.ValueOf(into).Elem()); err != nil {
		return err
	}
	if d.rest.Len() > 0 {
		return errors.New("there is more than the value")
	}
	return nil
}

// codec is how values of one type are encoded that have no exported fields, or more than these say.
type codec struct {
	encode func(reflect.Value) (any, error)
	decode func(d *decoder, into reflect.Value) error
}

// as makes a codec of functions that go through another type, which can be encoded.
func as[T, U any](to func(T) (U, error), from func(U) (T, error)) codec {
	return codec{
		encode: func(v reflect.Value) (any, error) { return to(v.Interface().(T)) },
		decode: func(d *decoder, into reflect.Value) error {
			var u U
			if err := d.decode(reflect.ValueOf(&u).Elem()); err != nil {
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
