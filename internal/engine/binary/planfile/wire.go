// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of a protobuf message: a number for varints, bytes for everything that has a
// length.
type field struct {
	num    protowire.Number
	varint uint64
	bytes  []byte
	isLen  bool
}

var errWireType = errors.New("unexpected kind of field")

// eachField calls visit for the fields of msg in order. Groups and fixed-size fields, which no
// message of a plan uses, are skipped like any unknown field.
func eachField(msg []byte, visit func(field) error) error {
	for len(msg) > 0 {
		num, typ, n := protowire.ConsumeTag(msg)
		if n < 0 {
			return protowire.ParseError(n)
		}
		msg = msg[n:]
		f := field{num: num}
		switch typ {
		case protowire.VarintType:
			f.varint, n = protowire.ConsumeVarint(msg)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(msg)
			f.isLen = true
		default:
			n = protowire.ConsumeFieldValue(num, typ, msg)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		msg = msg[n:]
		if typ != protowire.VarintType && typ != protowire.BytesType {
			continue
		}
		if err := visit(f); err != nil {
			return fmt.Errorf("field %d: %w", num, err)
		}
	}
	return nil
}

// message returns the bytes of a field that must be a message or a string.
func (f field) message() ([]byte, error) {
	if !f.isLen {
		return nil, errWireType
	}
	return f.bytes, nil
}

func (f field) setString(dst *string) error {
	b, err := f.message()
	if err == nil {
		*dst = string(b)
	}
	return err
}

func (f field) appendString(dst *[]string) error {
	b, err := f.message()
	if err == nil {
		*dst = append(*dst, string(b))
	}
	return err
}

func (f field) setUint(dst *uint64) error {
	if f.isLen {
		return errWireType
	}
	*dst = f.varint
	return nil
}

func (f field) setBool(dst *bool) error {
	if f.isLen {
		return errWireType
	}
	*dst = f.varint != 0
	return nil
}

// dynamicValue returns the msgpack bytes of a DynamicValue message.
func (f field) dynamicValue() ([]byte, error) {
	msg, err := f.message()
	if err != nil {
		return nil, err
	}
	var value []byte
	err = eachField(msg, func(f field) error {
		var err error
		if f.num == 1 {
			value, err = f.message()
		}
		return err
	})
	if err == nil && len(value) == 0 {
		err = errors.New("a value has no content")
	}
	return value, err
}
