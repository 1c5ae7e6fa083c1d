// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// maxDepth bounds recursion. Real values nest a few dozen levels at most.
const maxDepth = 500

var (
	errTruncated = errors.New("value ends too early")
	errTooDeep   = errors.New("value is nested too deeply")
)

// decodeValue decodes a value with a decoder of its own.
func decodeValue(data []byte, p place) (cty.Value, error) {
	return new(decoder).decode(data, p)
}

// decoder decodes values, one after another.
//
// The type of a place is that which a value was written with. A value that contradicts it is
// decoded as if the type were not known, so that a schema of another version does no harm: then
// lists are tuples, and maps are objects.
type decoder struct {
	data []byte

	// Frequent values are made once.
	types            map[string]cty.Type // by their description
	names            map[string]string   // of attributes
	strings, numbers map[string]cty.Value
	ints             [128]cty.Value

	stack []cty.Value            // elements of the sequences that are being decoded
	attrs []map[string]cty.Value // attributes of the objects that are being decoded, by depth
}

// decode decodes one msgpack value that fills data.
func (d *decoder) decode(data []byte, p place) (v cty.Value, err error) {
	// cty panics for some values that contradict their type, which only a damaged file has.
	defer func() {
		if r := recover(); r != nil {
			v, err = cty.NilVal, fmt.Errorf("inconsistent value: %v", r)
		}
	}()
	d.data, d.stack = data, d.stack[:0]
	v, _, err = d.value(p, 0)
	if err == nil && len(d.data) > 0 {
		err = errors.New("bytes left over after a value")
	}
	return v, err
}

func (d *decoder) take(n uint64) ([]byte, error) {
	if n > uint64(len(d.data)) {
		return nil, errTruncated
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b, nil
}

// uint reads a big-endian number of the given size in bytes.
func (d *decoder) uint(size uint64) (uint64, error) {
	b, err := d.take(size)
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	copy(wide[8-size:], b)
	return binary.BigEndian.Uint64(wide[:]), nil
}

// value decodes a value. It fits unless it contradicts its type.
func (d *decoder) value(p place, depth int) (v cty.Value, fits bool, err error) {
	if p.isSensitive() {
		v, fits, err = d.bare(place{ty: p.ty}, depth)
		return v.Mark(marks.Sensitive), fits, err
	}
	return d.bare(p, depth)
}

// bare decodes a value that is not sensitive as a whole, as far as its place says.
func (d *decoder) bare(p place, depth int) (v cty.Value, fits bool, err error) {
	if depth > maxDepth {
		return cty.NilVal, false, errTooDeep
	}
	head, err := d.take(1)
	if err != nil {
		return cty.NilVal, false, err
	}
	c := head[0]
	switch {
	case c <= 0x7f:
		return p.fitted(d.smallInt(c), nil)
	case c <= 0x8f:
		return d.mapping(uint64(c&0x0f), p, depth)
	case c <= 0x9f:
		return d.sequence(uint64(c&0x0f), p, depth)
	case c <= 0xbf:
		return d.text(uint64(c&0x1f), p)
	case c >= 0xe0:
		return p.fitted(cty.NumberIntVal(int64(int8(c))), nil)
	}
	switch c {
	case 0xc0:
		return cty.NullVal(p.valueType()), true, nil
	case 0xc2, 0xc3:
		return p.fitted(cty.BoolVal(c == 0xc3), nil)
	case 0xc7, 0xc8, 0xc9: // ext 8, 16, 32
		size, err := d.uint(1 << (c - 0xc7))
		if err != nil {
			return cty.NilVal, false, err
		}
		return d.unknown(size, p)
	case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8: // fixext 1, 2, 4, 8, 16
		return d.unknown(1<<(c-0xd4), p)
	case 0xca:
		bits, err := d.uint(4)
		return p.fitted(float(float64(math.Float32frombits(uint32(bits)))), err)
	case 0xcb:
		bits, err := d.uint(8)
		return p.fitted(float(math.Float64frombits(bits)), err)
	case 0xcc, 0xcd, 0xce, 0xcf:
		n, err := d.uint(1 << (c - 0xcc))
		return p.fitted(cty.NumberUIntVal(n), err)
	case 0xd0, 0xd1, 0xd2, 0xd3:
		size := uint64(1) << (c - 0xd0)
		n, err := d.uint(size)
		shift := 64 - 8*size
		return p.fitted(cty.NumberIntVal(int64(n<<shift)>>shift), err)
	case 0xd9, 0xda, 0xdb:
		size, err := d.uint(1 << (c - 0xd9))
		if err != nil {
			return cty.NilVal, false, err
		}
		return d.text(size, p)
	case 0xdc, 0xdd:
		size, err := d.uint(2 << (c - 0xdc))
		if err != nil {
			return cty.NilVal, false, err
		}
		return d.sequence(size, p, depth)
	case 0xde, 0xdf:
		size, err := d.uint(2 << (c - 0xde))
		if err != nil {
			return cty.NilVal, false, err
		}
		return d.mapping(size, p, depth)
	default: // 0xc1 is reserved; bin occurs only where sequence looks for it
		return cty.NilVal, false, fmt.Errorf("unexpected msgpack code %#x", c)
	}
}

// smallInt returns one of the numbers that occur most, each of them made once.
func (d *decoder) smallInt(n byte) cty.Value {
	if d.ints[n] == cty.NilVal {
		d.ints[n] = cty.NumberIntVal(int64(n))
	}
	return d.ints[n]
}

// fitted returns a primitive value, and whether it fits.
func (p place) fitted(v cty.Value, err error) (cty.Value, bool, error) {
	return v, !isKnownType(p.ty) || v.Type() == p.ty, err
}

// valueType returns the type of a null or unknown value.
func (p place) valueType() cty.Type {
	if p.ty == cty.NilType {
		return cty.DynamicPseudoType
	}
	return p.ty
}

// float returns a number, or a string for a value that JSON has no number for.
func float(f float64) cty.Value {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return cty.StringVal(strconv.FormatFloat(f, 'f', -1, 64))
	}
	return cty.NumberVal(big.NewFloat(f))
}

// text decodes a string, which is also how numbers are written that fit no machine number.
func (d *decoder) text(n uint64, p place) (cty.Value, bool, error) {
	b, err := d.take(n)
	if err != nil {
		return cty.NilVal, false, err
	}
	if p.ty == cty.Number && isNumber(b) {
		v, err := kept(&d.numbers, b, cty.ParseNumberVal)
		return v, true, err
	}
	v, err := kept(&d.strings, b, func(text string) (cty.Value, error) { return cty.StringVal(text), nil })
	return p.fitted(v, err)
}

// The bounds of the cache of texts that may occur again, as most do: before and after a change, and
// in other objects of a type.
const (
	maxKeptText = 64 // bytes
	maxKept     = 4096
)

// kept returns the value of a text, for short ones each made once.
func kept(values *map[string]cty.Value, text []byte, value func(string) (cty.Value, error)) (cty.Value, error) {
	if v, ok := (*values)[string(text)]; ok {
		return v, nil
	}
	v, err := value(string(text))
	if err == nil && len(text) <= maxKeptText && len(*values) < maxKept {
		if *values == nil {
			*values = map[string]cty.Value{}
		}
		(*values)[string(text)] = v
	}
	return v, err
}

// isNumber reports whether text is a number in JSON's syntax without an exponent, and nothing else.
func isNumber(text []byte) bool {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	return json.Valid(text) && (text[0] == '-' || digit(text[0])) && digit(text[len(text)-1]) && !bytes.ContainsAny(text, "eE")
}

// unknown skips an extension value, which always stands for an unknown value, and holds its
// refinements even so.
func (d *decoder) unknown(size uint64, p place) (cty.Value, bool, error) {
	if size > uint64(len(d.data)) { // before adding, which might overflow
		return cty.NilVal, false, errTruncated
	}
	_, err := d.take(size + 1)
	return cty.UnknownVal(p.valueType()), true, err
}

func (d *decoder) sequence(n uint64, p place, depth int) (cty.Value, bool, error) {
	if n > uint64(len(d.data)) { // every element takes a byte at least
		return cty.NilVal, false, errTruncated
	}
	if n == 2 && d.data[0] >= 0xc4 && d.data[0] <= 0xc6 {
		return d.dynamic(p, depth)
	}
	if len(p.paths) > 0 && p.hidesAll() {
		v, fits, err := d.sequence(n, place{ty: p.ty}, depth)
		return v.Mark(marks.Sensitive), fits, err
	}
	base, allFit := len(d.stack), true
	for i := range int(n) {
		elem, fits, err := d.value(p.elem(i), depth+1)
		if err != nil {
			return cty.NilVal, false, err
		}
		d.stack = append(d.stack, elem)
		allFit = allFit && fits
	}
	v, fits := sequenceValue(p.ty, d.stack[base:], allFit)
	d.stack = d.stack[:base]
	return v, fits, nil
}

// sequenceValue returns a list, a set or a tuple.
func sequenceValue(ty cty.Type, elems []cty.Value, allFit bool) (v cty.Value, fits bool) {
	if !isKnownType(ty) {
		return cty.TupleVal(elems), true
	}
	if !ty.IsListType() && !ty.IsSetType() {
		return cty.TupleVal(elems), allFit && ty.IsTupleType() && ty.Length() == len(elems)
	}
	switch {
	case !allFit || !alike(ty.ElementType(), elems):
		return cty.TupleVal(elems), false
	case ty.IsSetType() && len(elems) == 0:
		return cty.SetValEmpty(ty.ElementType()), true
	case ty.IsSetType():
		return cty.SetVal(elems), true
	case len(elems) == 0:
		return cty.ListValEmpty(ty.ElementType()), true
	default:
		return cty.ListVal(elems), true
	}
}

// alike reports whether values that fit a type are of one type.
func alike(ty cty.Type, values []cty.Value) bool {
	if ty.IsPrimitiveType() || !ty.HasDynamicTypes() {
		return true
	}
	for _, v := range values[min(1, len(values)):] {
		if !v.Type().Equals(values[0].Type()) {
			return false
		}
	}
	return true
}

// dynamic decodes a value that was written without a type: its type as JSON in binary, then the
// value itself. Nothing else is ever written as binary, so that this can't be mistaken for a list.
func (d *decoder) dynamic(p place, depth int) (cty.Value, bool, error) {
	size, err := d.uintAfterCode()
	if err != nil {
		return cty.NilVal, false, err
	}
	src, err := d.take(size)
	if err != nil {
		return cty.NilVal, false, err
	}
	ty, err := d.parseType(src)
	if err != nil {
		return cty.NilVal, false, fmt.Errorf("invalid type of a value: %w", err)
	}
	v, _, err := d.bare(place{ty, p.secret, p.paths}, depth+1)
	return v, !isKnownType(p.ty), err
}

// parseType parses the JSON description of a type, each once.
func (d *decoder) parseType(description []byte) (cty.Type, error) {
	if ty, ok := d.types[string(description)]; ok {
		return ty, nil
	}
	ty, err := ctyjson.UnmarshalType(description)
	if err == nil {
		if d.types == nil {
			d.types = map[string]cty.Type{}
		}
		d.types[string(description)] = ty
	}
	return ty, err
}

// uintAfterCode reads the code of a binary value and returns the length that follows it.
func (d *decoder) uintAfterCode() (uint64, error) {
	code, err := d.uint(1)
	if err != nil {
		return 0, err
	}
	return d.uint(1 << (code - 0xc4))
}

func (d *decoder) mapping(n uint64, p place, depth int) (cty.Value, bool, error) {
	if n > uint64(len(d.data))/2 { // a key and a value take a byte each at least
		return cty.NilVal, false, errTruncated
	}
	attrs, allFit := d.attributes(depth), true
	types, elem := attributeTypes(p.ty)
	for range n {
		name, err := d.name()
		if err != nil {
			return cty.NilVal, false, err
		}
		ty := elem
		if types != nil {
			ty = types[name]
		}
		v, fits, err := d.value(p.attr(name, ty), depth+1)
		if err != nil {
			return cty.NilVal, false, err
		}
		attrs[name] = v
		allFit = allFit && fits
	}
	v, fits := mappingValue(p.ty, attrs, allFit)
	return v, fits, nil
}

// attributes returns an empty map that belongs to the caller until something else is decoded at
// this depth.
func (d *decoder) attributes(depth int) map[string]cty.Value {
	for len(d.attrs) <= depth {
		d.attrs = append(d.attrs, map[string]cty.Value{})
	}
	clear(d.attrs[depth])
	return d.attrs[depth]
}

// name decodes the key of a map. The same few names occur in all objects of a type.
func (d *decoder) name() (string, error) {
	code, err := d.uint(1)
	if err != nil {
		return "", err
	}
	size := code & 0x1f
	switch {
	case code >= 0xd9 && code <= 0xdb:
		if size, err = d.uint(1 << (code - 0xd9)); err != nil {
			return "", err
		}
	case code < 0xa0 || code > 0xbf:
		return "", errors.New("the key of a map is not a string")
	}
	b, err := d.take(size)
	if err != nil {
		return "", err
	}
	name, ok := d.names[string(b)]
	if !ok {
		if d.names == nil {
			d.names = map[string]string{}
		}
		name = string(b)
		d.names[name] = name
	}
	return name, nil
}

// mappingValue returns a map or an object.
func mappingValue(ty cty.Type, attrs map[string]cty.Value, allFit bool) (v cty.Value, fits bool) {
	switch {
	case !isKnownType(ty):
		return cty.ObjectVal(attrs), true
	case ty.IsObjectType():
		return cty.ObjectVal(attrs), allFit && len(attrs) == len(ty.AttributeTypes())
	case !ty.IsMapType() || !allFit || ty.HasDynamicTypes() && !alike(ty.ElementType(), slices.Collect(maps.Values(attrs))):
		return cty.ObjectVal(attrs), false
	case len(attrs) == 0:
		return cty.MapValEmpty(ty.ElementType()), true
	default:
		return cty.MapVal(attrs), true
	}
}
