// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package storedvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
)

// encodeDynamic encodes a value with its type as cty does, but describes the type without the detours of package json:
// a plan has many values, and each goes with its type.
func encodeDynamic(v cty.Value) ([]byte, error) {
	ty := v.Type()
	description, ok := appendType(nil, ty)
	if !ok || !v.IsKnown() || ty == cty.DynamicPseudoType { // which have encodings of their own
		return ctymsgpack.Marshal(v, cty.DynamicPseudoType)
	}
	var b bytes.Buffer
	e := valueEncoder{Encoder: msgpack.NewEncoder(&b), b: &b}
	err := errors.Join(e.EncodeArrayLen(2), e.EncodeBytes(description), e.value(v))
	return b.Bytes(), err
}

// valueEncoder encodes values as cty does.
type valueEncoder struct {
	*msgpack.Encoder
	b *bytes.Buffer
}

func (e valueEncoder) value(v cty.Value) error {
	ty := v.Type()
	switch {
	case v.IsMarked() || !v.IsKnown(): // of which the first is an error
		return e.leaveToCty(v)
	case v.IsNull():
		return e.EncodeNil()
	case ty == cty.String:
		return e.EncodeString(v.AsString())
	case ty == cty.Bool:
		return e.EncodeBool(v.True())
	case ty == cty.Number:
		return e.number(v.AsBigFloat())
	case ty.IsObjectType() || ty.IsMapType():
		err := e.EncodeMapLen(v.LengthInt())
		for it := v.ElementIterator(); err == nil && it.Next(); {
			key, elem := it.Element()
			if err = e.EncodeString(key.AsString()); err == nil {
				err = e.value(elem)
			}
		}
		return err
	case ty.IsListType() || ty.IsSetType() || ty.IsTupleType():
		err := e.EncodeArrayLen(v.LengthInt())
		for it := v.ElementIterator(); err == nil && it.Next(); {
			_, elem := it.Element()
			err = e.value(elem)
		}
		return err
	}
	return e.leaveToCty(v)
}

// number encodes a number as one of the machine's if that is exact: whole numbers only as integers.
func (e valueEncoder) number(n *big.Float) error {
	if integer, accuracy := n.Int64(); accuracy == big.Exact {
		return e.EncodeInt(integer)
	}
	if float, accuracy := n.Float64(); accuracy == big.Exact && (!n.IsInt() || n.IsInf()) {
		return e.EncodeFloat64(float)
	}
	if n.IsInt() && n.MantExp(nil) <= int(n.Prec()) { // of which there is one text only, found faster than the shortest
		integer, _ := n.Int(nil)
		return e.EncodeString(integer.String())
	}
	return e.EncodeString(n.Text('f', -1))
}

func (e valueEncoder) leaveToCty(v cty.Value) error {
	raw, err := ctymsgpack.Marshal(v, v.Type())
	e.b.Write(raw)
	return err
}

// appendType appends the description of a type in JSON, as cty has it. ok is false for a type that is left to cty.
func appendType(b []byte, ty cty.Type) (_ []byte, ok bool) {
	switch {
	case ty == cty.String:
		return append(b, `"string"`...), true
	case ty == cty.Number:
		return append(b, `"number"`...), true
	case ty == cty.Bool:
		return append(b, `"bool"`...), true
	case ty == cty.DynamicPseudoType:
		return append(b, `"dynamic"`...), true
	case ty.IsListType():
		return appendCollection(b, "list", ty)
	case ty.IsSetType():
		return appendCollection(b, "set", ty)
	case ty.IsMapType():
		return appendCollection(b, "map", ty)
	case ty.IsTupleType():
		return appendTuple(b, ty)
	case ty.IsObjectType() && len(ty.OptionalAttributes()) == 0:
		return appendObject(b, ty)
	}
	return nil, false
}

func appendCollection(b []byte, kind string, ty cty.Type) ([]byte, bool) {
	b, ok := appendType(append(append(append(b, `["`...), kind...), `",`...), ty.ElementType())
	return append(b, ']'), ok
}

func appendTuple(b []byte, ty cty.Type) ([]byte, bool) {
	b = append(b, `["tuple",[`...)
	for i, elem := range ty.TupleElementTypes() {
		if i > 0 {
			b = append(b, ',')
		}
		var ok bool
		if b, ok = appendType(b, elem); !ok {
			return nil, false
		}
	}
	return append(b, `]]`...), true
}

func appendObject(b []byte, ty cty.Type) ([]byte, bool) {
	b = append(b, `["object",{`...)
	attrs := ty.AttributeTypes()
	for i, name := range slices.Sorted(maps.Keys(attrs)) {
		if i > 0 {
			b = append(b, ',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, false
		}
		var ok bool
		if b, ok = appendType(append(append(b, quoted...), ':'), attrs[name]); !ok {
			return nil, false
		}
	}
	return append(b, `}]`...), true
}

// decodeDynamic decodes a value with its type as cty does, but parses the
// description of each type once: a state has few types and many values.
func decodeDynamic(raw []byte) (v cty.Value, err error) {
	defer func() { err = recovered(recover(), err) }()
	ty, value, ok := cutType(raw)
	if !ok {
		return ctymsgpack.Unmarshal(raw, cty.DynamicPseudoType)
	}
	return ctymsgpack.Unmarshal(value, ty)
}

// recovered makes an error of the panic of package big with which cty meets
// numbers that are none, as damaged files may have them.
func recovered(problem any, err error) error {
	switch problem := problem.(type) {
	case nil:
		return err
	case big.ErrNaN:
		return problem
	default:
		panic(problem)
	}
}

// cutType splits the encoding of a value with its type: an array of the type in
// JSON and the value. ok is false for all else, such as unknown values without
// a type, which is left to cty.
func cutType(raw []byte) (ty cty.Type, value []byte, ok bool) {
	const arrayOfTwo = 0x92 // the code of the MessagePack format
	if len(raw) == 0 || raw[0] != arrayOfTwo {
		return cty.NilType, nil, false
	}
	r := bytes.NewReader(raw[1:])
	description, err := msgpack.NewDecoder(r).DecodeBytes()
	if err != nil {
		return cty.NilType, nil, false
	}
	ty, err = ParseType(description)
	return ty, raw[len(raw)-r.Len():], err == nil
}

var (
	types     sync.Map // description → cty.Type
	typeCount atomic.Int64
)

// maxTypes bounds the memory that damaged or odd files can take for good.
const maxTypes = 10_000

// ParseType parses the JSON description of a type, each once in a process.
func ParseType(description []byte) (cty.Type, error) {
	if ty, ok := types.Load(string(description)); ok {
		return ty.(cty.Type), nil
	}
	ty, err := ctyjson.UnmarshalType(description)
	if err == nil && typeCount.Load() < maxTypes {
		typeCount.Add(1)
		types.Store(string(description), ty)
	}
	return ty, err
}
