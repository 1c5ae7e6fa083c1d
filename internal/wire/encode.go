// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
)

// encoder encodes values one after the other.
type encoder struct {
	*msgpack.Encoder
	content *bytes.Buffer
}

func newEncoder() *encoder {
	content := &bytes.Buffer{}
	return &encoder{msgpack.NewEncoder(content), content}
}

// isJSON reports whether a type says itself how it is encoded. Those of terraform's JSON formats
// do.
func isJSON(t reflect.Type) bool { return strings.HasSuffix(t.PkgPath(), "/terraform-json") }

func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

func (e *encoder) encode(v reflect.Value) error {
	if found, ok := codecs[v.Type()]; ok {
		encoded, err := found.encode(v)
		if err != nil {
			return err
		}
		return e.encode(reflect.ValueOf(encoded))
	}
	switch kind := v.Kind(); {
	case isBytes(v.Type()):
		return e.EncodeBytes(v.Bytes())
	case isJSON(v.Type()):
		text, err := json.Marshal(v.Interface())
		if err != nil {
			return err
		}
		return e.EncodeBytes(text)
	case kind == reflect.Struct:
		return e.encodeStruct(v)
	case kind == reflect.Pointer, kind == reflect.Slice, kind == reflect.Map:
		return e.encodeIfAny(v)
	}
	return e.encodeScalar(v)
}

func (e *encoder) encodeScalar(v reflect.Value) error {
	switch kind := v.Kind(); {
	case kind == reflect.Bool:
		return e.EncodeBool(v.Bool())
	case kind == reflect.String:
		return e.EncodeString(v.String())
	case v.CanInt():
		return e.EncodeInt(v.Int())
	case v.CanUint():
		return e.EncodeUint(v.Uint())
	case v.CanFloat():
		return e.EncodeFloat64(v.Float())
	}
	return fmt.Errorf("%s is not data", v.Type())
}

// encodeIfAny encodes a value that may be nil.
func (e *encoder) encodeIfAny(v reflect.Value) error {
	switch {
	case v.IsNil():
		return e.EncodeNil()
	case v.Kind() == reflect.Map:
		return e.encodeMap(v)
	case v.Kind() == reflect.Pointer:
		return e.encode(v.Elem())
	}
	if err := e.EncodeArrayLen(v.Len()); err != nil {
		return err
	}
	for i := range v.Len() {
		if err := e.encode(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// encodeMap encodes a map in the order of its encoded keys, which may be structs.
func (e *encoder) encodeMap(v reflect.Value) error {
	type pair struct {
		key     []byte
		element reflect.Value
	}
	pairs := make([]pair, 0, v.Len())
	keys := newEncoder()
	for entry := v.MapRange(); entry.Next(); {
		begin := keys.content.Len()
		if err := keys.encode(entry.Key()); err != nil {
			return err
		}
		pairs = append(pairs, pair{keys.content.Bytes()[begin:], entry.Value()}) // which stays when the buffer grows
	}
	slices.SortFunc(pairs, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	if err := e.EncodeMapLen(len(pairs)); err != nil {
		return err
	}
	for _, pair := range pairs {
		e.content.Write(pair.key)
		if err := e.encode(pair.element); err != nil {
			return err
		}
	}
	return nil
}

// encodeStruct encodes a struct as the list of its fields.
func (e *encoder) encodeStruct(v reflect.Value) error {
	if err := e.EncodeArrayLen(v.NumField()); err != nil {
		return err
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() {
			return fmt.Errorf("%s has a field %s that cannot be seen", v.Type(), field.Name)
		}
		if err := e.encode(v.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", field.Name, err)
		}
	}
	return nil
}
