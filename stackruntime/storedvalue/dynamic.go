// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package storedvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/safevalue"
)

// encodeDynamic encodes a value with its type as cty does, but describes the type without the
// detours of package json, and finds the parts that are sensitive in the same pass: a plan has many
// values, and each goes with its type. The paths are sorted.
//
// Errors: [ErrEphemeral], and those of cty.
func encodeDynamic(v cty.Value) (raw []byte, sensitive []cty.Path, err error) {
	e := encoders.Get().(*valueEncoder)
	defer encoders.Put(e)
	e.b.Reset()
	e.sensitive, e.names = nil, e.names[:0] // which an error may have left

	ty := v.Type()
	description, ok := e.appendType(e.description[:0], ty)
	if bare, _ := v.Unmark(); !ok || !bare.IsKnown() || ty == cty.DynamicPseudoType { // which have encodings of their own
		bare, sensitive, ephemeral := marks.Split(v)
		if len(ephemeral) > 0 {
			return nil, nil, ErrEphemeral
		}
		raw, err := ctymsgpack.Marshal(bare, cty.DynamicPseudoType)
		return raw, sensitive, err
	}
	e.description = description
	err = errors.Join(e.EncodeArrayLen(2), e.EncodeBytes(description), e.value(v))
	return bytes.Clone(e.b.Bytes()), e.paths(), err
}

// valueEncoder encodes values as cty does.
type valueEncoder struct {
	*msgpack.Encoder
	b           *bytes.Buffer
	description []byte // of a type

	// names has those of the attributes of the objects that are being encoded, of the outermost one
	// first.
	names []string

	// sensitive are the paths found so far, each from its end up to the value that is being encoded.
	sensitive []cty.Path
}

// encoders keeps the buffers of one value for the next one.
var encoders = sync.Pool{New: func() any {
	var b bytes.Buffer
	return &valueEncoder{Encoder: msgpack.NewEncoder(&b), b: &b}
}}

// sortedNames returns the names of attributes, sorted. The caller gives them back with
// [valueEncoder.dropNames], the last ones first.
func (e *valueEncoder) sortedNames(attrs map[string]cty.Type) []string {
	first := len(e.names)
	for name := range attrs {
		e.names = append(e.names, name)
	}
	names := e.names[first:]
	slices.Sort(names)
	return names
}

func (e *valueEncoder) dropNames(names []string) { e.names = e.names[:len(e.names)-len(names)] }

// unmark takes note of the marks of a value, and returns it without them.
func (e *valueEncoder) unmark(v cty.Value) (cty.Value, error) {
	bare, found := v.Unmark()
	for mark := range found {
		switch mark {
		case marks.Sensitive:
			e.sensitive = append(e.sensitive, nil)
		case marks.Ephemeral:
			return cty.NilVal, ErrEphemeral
		default:
			return v, nil // cty refuses it
		}
	}
	return bare, nil
}

// within adds the step that leads to a part of a value to the paths that were found in it: all but
// the first ones.
func (e *valueEncoder) within(step cty.PathStep, first int) {
	for i := range e.sensitive[first:] {
		e.sensitive[first+i] = append(e.sensitive[first+i], step)
	}
}

// paths returns the paths to all that is sensitive, sorted.
func (e *valueEncoder) paths() []cty.Path {
	for _, path := range e.sensitive {
		slices.Reverse(path)
	}
	return marks.SortPaths(e.sensitive)
}

func (e *valueEncoder) value(v cty.Value) error {
	ty := v.Type()
	if v.IsMarked() {
		var err error
		if v, err = e.unmark(v); err != nil {
			return err
		}
	}
	// The bytes are those of cty, which decodes them: sets, which msgpack lacks, are lists. Each
	// collection adds its own step to the sensitive paths that were found in it, so that a path is
	// built only where something is sensitive.
	switch {
	case v.IsMarked(): // an error
		return e.leaveToCty(v)
	case !v.IsKnown():
		return e.unknown(v)
	case v.IsNull():
		return e.EncodeNil()
	case ty == cty.String:
		return e.EncodeString(v.AsString())
	case ty == cty.Bool:
		return e.EncodeBool(v.True())
	case ty == cty.Number:
		return e.number(v.AsBigFloat())
	case ty.IsObjectType():
		names := e.sortedNames(ty.AttributeTypes())
		defer e.dropNames(names)
		err := e.EncodeMapLen(len(names))
		for i := 0; err == nil && i < len(names); i++ {
			if err = e.EncodeString(names[i]); err != nil {
				break
			}
			found := len(e.sensitive)
			if err = e.value(v.GetAttr(names[i])); len(e.sensitive) > found {
				e.within(cty.GetAttrStep{Name: names[i]}, found)
			}
		}
		return err
	case ty.IsMapType():
		err := e.EncodeMapLen(v.LengthInt())
		for it := v.ElementIterator(); err == nil && it.Next(); {
			key, elem := it.Element()
			if err = e.EncodeString(key.AsString()); err != nil {
				break
			}
			found := len(e.sensitive)
			if err = e.value(elem); len(e.sensitive) > found {
				e.within(cty.IndexStep{Key: key}, found)
			}
		}
		return err
	case ty.IsListType() || ty.IsSetType() || ty.IsTupleType():
		err := e.EncodeArrayLen(v.LengthInt())
		for it := v.ElementIterator(); err == nil && it.Next(); {
			key, elem := it.Element()
			found := len(e.sensitive)
			if err = e.value(elem); len(e.sensitive) > found {
				e.within(cty.IndexStep{Key: key}, found)
			}
		}
		return err
	}
	return e.leaveToCty(v)
}

// number encodes a number as one of the machine's if that is exact: whole numbers only as integers.
func (e *valueEncoder) number(n *big.Float) error {
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

// unknown encodes a value that is not known. Most have nothing else to say.
func (e *valueEncoder) unknown(v cty.Value) error {
	if !v.RawEquals(cty.UnknownVal(v.Type())) {
		return e.leaveToCty(v)
	}
	const fixext1 = "\xd4\x00\x00" // of the MessagePack format: an extension of type 0 with one byte
	_, err := e.b.WriteString(fixext1)
	return err
}

func (e *valueEncoder) leaveToCty(v cty.Value) error {
	raw, err := ctymsgpack.Marshal(v, v.Type())
	e.b.Write(raw)
	return err
}

// appendType appends the description of a type in JSON, as cty has it. ok is false for a type that
// is left to cty.
func (e *valueEncoder) appendType(b []byte, ty cty.Type) (_ []byte, ok bool) {
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
		return e.appendCollection(b, "list", ty)
	case ty.IsSetType():
		return e.appendCollection(b, "set", ty)
	case ty.IsMapType():
		return e.appendCollection(b, "map", ty)
	case ty.IsTupleType():
		return e.appendTuple(b, ty)
	case ty.IsObjectType() && len(ty.OptionalAttributes()) == 0:
		return e.appendObject(b, ty)
	}
	return nil, false
}

func (e *valueEncoder) appendCollection(b []byte, kind string, ty cty.Type) ([]byte, bool) {
	b, ok := e.appendType(append(append(append(b, `["`...), kind...), `",`...), ty.ElementType())
	return append(b, ']'), ok
}

func (e *valueEncoder) appendTuple(b []byte, ty cty.Type) ([]byte, bool) {
	b = append(b, `["tuple",[`...)
	for i, elem := range ty.TupleElementTypes() {
		if i > 0 {
			b = append(b, ',')
		}
		var ok bool
		if b, ok = e.appendType(b, elem); !ok {
			return nil, false
		}
	}
	return append(b, `]]`...), true
}

func (e *valueEncoder) appendObject(b []byte, ty cty.Type) ([]byte, bool) {
	b = append(b, `["object",{`...)
	attrs := ty.AttributeTypes()
	names := e.sortedNames(attrs)
	defer e.dropNames(names)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		var ok bool
		if b, ok = appendName(b, name); !ok {
			return nil, false
		}
		if b, ok = e.appendType(append(b, ':'), attrs[name]); !ok {
			return nil, false
		}
	}
	return append(b, `}]`...), true
}

// appendName appends a name as JSON has it, which for almost all is as it is.
func appendName(b []byte, name string) (_ []byte, ok bool) {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	if !strings.ContainsFunc(name, odd) {
		return append(append(append(b, '"'), name...), '"'), true
	}
	quoted, err := json.Marshal(name)
	return append(b, quoted...), err == nil
}

// decodeDynamic decodes a value with its type as cty does, but parses the
// description of each type once: a state has few types and many values.
func decodeDynamic(raw []byte) (cty.Value, error) {
	ty, value, ok := cutType(raw)
	if !ok {
		return safevalue.Unmarshal(raw, cty.DynamicPseudoType)
	}
	return safevalue.Unmarshal(value, ty)
}

// cutType splits the encoding of a value with its type: an array of the type in
// JSON and the value. ok is false for all else, such as unknown values without
// a type, which is left to cty.
func cutType(raw []byte) (ty cty.Type, value []byte, ok bool) {
	const arrayOfTwo, bytes8, bytes16 = 0x92, 0xc4, 0xc5 // the codes of the MessagePack format
	var size, start int
	switch {
	case len(raw) < 4 || raw[0] != arrayOfTwo:
		return cty.NilType, nil, false
	case raw[1] == bytes8:
		size, start = int(raw[2]), 3
	case raw[1] == bytes16:
		size, start = int(raw[2])<<8|int(raw[3]), 4
	default:
		return cty.NilType, nil, false
	}
	if len(raw)-start < size {
		return cty.NilType, nil, false
	}
	value = raw[start+size:]
	ty, err := ParseType(raw[start : start+size])
	return ty, value, err == nil
}

var types = struct {
	sync.RWMutex
	parsed map[string]cty.Type // by description
}{parsed: map[string]cty.Type{}}

// maxTypes bounds the memory that damaged or odd files can take for good.
const maxTypes = 10_000

// ParseType parses the JSON description of a type, each once in a process.
func ParseType(description []byte) (cty.Type, error) {
	types.RLock()
	ty, ok := types.parsed[string(description)] // which makes no text of the bytes, as a sync.Map would
	types.RUnlock()
	if ok {
		return ty, nil
	}
	ty, err := ctyjson.UnmarshalType(description)
	if err == nil {
		types.Lock()
		defer types.Unlock()
		if len(types.parsed) < maxTypes {
			types.parsed[string(description)] = ty
		}
	}
	return ty, err
}
