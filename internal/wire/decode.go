// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// decoder decodes values one after the other.
type decoder struct {
	*msgpack.Decoder
	rest *bytes.Reader
}

func newDecoder(content []byte) *decoder {
	rest := bytes.NewReader(content)
	return &decoder{msgpack.NewDecoder(rest), rest}
}

func (d *decoder) decode(into reflect.Value) error {
	if found, ok := codecs[into.Type()]; ok {
		return found.decode(d, into)
	}
	switch kind := into.Kind(); {
	case isBytes(into.Type()):
		content, err := d.DecodeBytes()
		into.SetBytes(content)
		return err
	case isJSON(into.Type()):
		text, err := d.DecodeBytes()
		if err != nil {
			return err
		}
		return json.Unmarshal(text, into.Addr().Interface())
	case kind == reflect.Struct:
		return d.decodeStruct(into)
	case kind == reflect.Pointer, kind == reflect.Slice, kind == reflect.Map:
		return d.decodeIfAny(into)
	}
	return d.decodeScalar(into)
}

func (d *decoder) decodeScalar(into reflect.Value) (err error) {
	switch kind := into.Kind(); {
	case kind == reflect.Bool:
		var b bool
		b, err = d.DecodeBool()
		into.SetBool(b)
	case kind == reflect.String:
		var text string
		text, err = d.DecodeString()
		into.SetString(text)
	case into.CanInt():
		var n int64
		n, err = d.DecodeInt64()
		into.SetInt(n)
	case into.CanUint():
		var n uint64
		n, err = d.DecodeUint64()
		into.SetUint(n)
	case into.CanFloat():
		var f float64
		f, err = d.DecodeFloat64()
		into.SetFloat(f)
	default:
		err = fmt.Errorf("%s is not data", into.Type())
	}
	return err
}

// decodeIfAny decodes a value that may be nil.
func (d *decoder) decodeIfAny(into reflect.Value) error {
	code, err := d.PeekCode()
	if err != nil {
		return err
	}
	if code == msgpcode.Nil {
		into.SetZero()
		return d.DecodeNil()
	}
	switch into.Kind() { //nolint:exhaustive // others cannot be nil
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return d.decode(into.Elem())
	case reflect.Map:
		return d.decodeMap(into)
	}
	n, err := d.length(d.DecodeArrayLen())
	if err != nil {
		return err
	}
	into.Set(reflect.MakeSlice(into.Type(), n, n))
	for i := range n {
		if err := d.decode(into.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// length returns a number of elements, unless there cannot be so many: each has a byte at least.
func (d *decoder) length(n int, err error) (int, error) {
	if err == nil && n > d.rest.Len() {
		err = fmt.Errorf("%d elements cannot be in %d bytes", n, d.rest.Len())
	}
	return n, err
}

func (d *decoder) decodeMap(into reflect.Value) error {
	n, err := d.length(d.DecodeMapLen())
	if err != nil {
		return err
	}
	into.Set(reflect.MakeMapWithSize(into.Type(), n))
	for range n {
		key, element := reflect.New(into.Type().Key()).Elem(), reflect.New(into.Type().Elem()).Elem()
		if err := d.decode(key); err != nil {
			return err
		}
		if err := d.decode(element); err != nil {
			return err
		}
		into.SetMapIndex(key, element)
	}
	return nil
}

func (d *decoder) decodeStruct(into reflect.Value) error {
	n, err := d.DecodeArrayLen()
	if err == nil && n != into.NumField() {
		err = fmt.Errorf("%s has %d fields, and there are %d", into.Type(), into.NumField(), n)
	}
	if err != nil {
		return err
	}
	for i := range n {
		if err := d.decode(into.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", into.Type().Field(i).Name, err)
		}
	}
	return nil
}
