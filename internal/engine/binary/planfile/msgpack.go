// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// kind is what a decoded value is, independent of the exact type.
type kind uint8

const (
	kindNull kind = iota
	kindUnknown
	kindBool
	kindNumber
	kindString
	kindList // lists and tuples
	kindSet
	kindMap // maps and objects
)

// node is a value as JSON sees it, with what JSON can't say beside it.
type node struct {
	kind      kind
	text      string // kindNumber, kindString
	truth     bool   // kindBool
	elems     []node // kindList, kindSet, kindMap
	keys      []string
	unknown   kind // kindUnknown: kindList, kindSet or kindMap if it is known to be one
	sensitive bool
}

// maxDepth bounds recursion. Real values nest a few dozen levels at most.
const maxDepth = 500

var (
	errTruncated = errors.New("value ends too early")
	errTooDeep   = errors.New("value is nested too deeply")
)

// decodeValue decodes one msgpack value that fills data. ty is the type it was written with, or
// cty.NilType or cty.DynamicPseudoType when that is not known. A value that contradicts ty is decoded
// as if ty were not known, so that a schema of another version does no harm.
func decodeValue(data []byte, ty cty.Type) (node, error) {
	d := decoder{data: data}
	n, err := d.value(ty, 0)
	if err == nil && len(d.data) > 0 {
		err = errors.New("bytes left over after a value")
	}
	return n, err
}

type decoder struct {
	data []byte
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

func (d *decoder) value(ty cty.Type, depth int) (node, error) {
	if depth > maxDepth {
		return node{}, errTooDeep
	}
	head, err := d.take(1)
	if err != nil {
		return node{}, err
	}
	c := head[0]
	switch {
	case c <= 0x7f:
		return number(strconv.Itoa(int(c))), nil
	case c <= 0x8f:
		return d.mapping(uint64(c&0x0f), ty, depth)
	case c <= 0x9f:
		return d.sequence(uint64(c&0x0f), ty, depth)
	case c <= 0xbf:
		return d.text(uint64(c&0x1f), ty)
	case c >= 0xe0:
		return number(strconv.Itoa(int(int8(c)))), nil
	}
	switch c {
	case 0xc0:
		return node{}, nil
	case 0xc2, 0xc3:
		return node{kind: kindBool, truth: c == 0xc3}, nil
	case 0xc7, 0xc8, 0xc9: // ext 8, 16, 32
		size, err := d.uint(1 << (c - 0xc7))
		if err != nil {
			return node{}, err
		}
		return d.unknown(size, ty)
	case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8: // fixext 1, 2, 4, 8, 16
		return d.unknown(1<<(c-0xd4), ty)
	case 0xca:
		bits, err := d.uint(4)
		return float(float64(math.Float32frombits(uint32(bits)))), err
	case 0xcb:
		bits, err := d.uint(8)
		return float(math.Float64frombits(bits)), err
	case 0xcc, 0xcd, 0xce, 0xcf:
		v, err := d.uint(1 << (c - 0xcc))
		return number(strconv.FormatUint(v, 10)), err
	case 0xd0, 0xd1, 0xd2, 0xd3:
		size := uint64(1) << (c - 0xd0)
		v, err := d.uint(size)
		shift := 64 - 8*size
		return number(strconv.FormatInt(int64(v<<shift)>>shift, 10)), err
	case 0xd9, 0xda, 0xdb:
		return d.sized(1<<(c-0xd9), ty, depth, d.textAt)
	case 0xdc, 0xdd:
		return d.sized(2<<(c-0xdc), ty, depth, d.sequence)
	case 0xde, 0xdf:
		return d.sized(2<<(c-0xde), ty, depth, d.mapping)
	default: // 0xc1 is reserved; bin occurs only where sequence looks for it
		return node{}, fmt.Errorf("unexpected msgpack code %#x", c)
	}
}

func (d *decoder) sized(
	lenSize uint64, ty cty.Type, depth int, rest func(uint64, cty.Type, int) (node, error),
) (node, error) {
	n, err := d.uint(lenSize)
	if err != nil {
		return node{}, err
	}
	return rest(n, ty, depth)
}

func number(text string) node { return node{kind: kindNumber, text: text} }

// float returns a number, or a string for what JSON has no number for.
func float(f float64) node {
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return node{kind: kindString, text: text}
	}
	return number(text)
}

func (d *decoder) textAt(n uint64, ty cty.Type, _ int) (node, error) { return d.text(n, ty) }

// text decodes a string, which is also how numbers are written that fit no machine number.
func (d *decoder) text(n uint64, ty cty.Type) (node, error) {
	b, err := d.take(n)
	if err != nil {
		return node{}, err
	}
	if ty == cty.Number && isNumber(b) {
		return number(string(b)), nil
	}
	return node{kind: kindString, text: string(b)}, nil
}

// isNumber reports whether text is a number in JSON's syntax, and nothing else.
func isNumber(text []byte) bool {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	return json.Valid(text) && (text[0] == '-' || digit(text[0])) && digit(text[len(text)-1])
}

// unknown skips an extension value, which always stands for an unknown value.
func (d *decoder) unknown(size uint64, ty cty.Type) (node, error) {
	if size > uint64(len(d.data)) { // before adding, which might overflow
		return node{}, errTruncated
	}
	_, err := d.take(size + 1)
	return node{kind: kindUnknown, unknown: collectionKind(ty)}, err
}

// collectionKind returns the kind of the values of a collection or structural type, else kindNull.
func collectionKind(ty cty.Type) kind {
	switch {
	case ty == cty.NilType:
		return kindNull
	case ty.IsSetType():
		return kindSet
	case ty.IsListType(), ty.IsTupleType():
		return kindList
	case ty.IsMapType(), ty.IsObjectType():
		return kindMap
	default:
		return kindNull
	}
}

func (d *decoder) sequence(n uint64, ty cty.Type, depth int) (node, error) {
	if n > uint64(len(d.data)) { // every element takes a byte at least
		return node{}, errTruncated
	}
	if n == 2 && d.data[0] >= 0xc4 && d.data[0] <= 0xc6 {
		return d.dynamic(depth)
	}
	out := node{kind: kindList, elems: make([]node, 0, n)}
	if collectionKind(ty) == kindSet {
		out.kind = kindSet
	}
	for i := range int(n) {
		elem, err := d.value(sequenceElementType(ty, i), depth+1)
		if err != nil {
			return node{}, err
		}
		out.elems = append(out.elems, elem)
	}
	return out, nil
}

// dynamic decodes a value that was written without a type: its type as JSON in binary, then the
// value itself. Nothing else is ever written as binary, so that this can't be mistaken for a list.
func (d *decoder) dynamic(depth int) (node, error) {
	size, err := d.uintAfterCode()
	if err != nil {
		return node{}, err
	}
	src, err := d.take(size)
	if err != nil {
		return node{}, err
	}
	ty, err := ctyjson.UnmarshalType(src)
	if err != nil {
		return node{}, fmt.Errorf("invalid type of a value: %w", err)
	}
	return d.value(ty, depth+1)
}

// uintAfterCode reads the code of a binary value and returns the length that follows it.
func (d *decoder) uintAfterCode() (uint64, error) {
	code, err := d.uint(1)
	if err != nil {
		return 0, err
	}
	return d.uint(1 << (code - 0xc4))
}

func (d *decoder) mapping(n uint64, ty cty.Type, depth int) (node, error) {
	if n > uint64(len(d.data))/2 { // a key and a value take a byte each at least
		return node{}, errTruncated
	}
	out := node{kind: kindMap, keys: make([]string, 0, n), elems: make([]node, 0, n)}
	for range n {
		key, err := d.value(cty.String, depth+1)
		if err != nil {
			return node{}, err
		}
		if key.kind != kindString {
			return node{}, errors.New("the key of a map is not a string")
		}
		elem, err := d.value(attributeType(ty, key.text), depth+1)
		if err != nil {
			return node{}, err
		}
		out.keys = append(out.keys, key.text)
		out.elems = append(out.elems, elem)
	}
	return out, nil
}

func sequenceElementType(ty cty.Type, i int) cty.Type {
	switch {
	case ty == cty.NilType:
	case ty.IsListType(), ty.IsSetType():
		return ty.ElementType()
	case ty.IsTupleType() && i < ty.Length():
		return ty.TupleElementType(i)
	}
	return cty.NilType
}

func attributeType(ty cty.Type, name string) cty.Type {
	switch {
	case ty == cty.NilType:
	case ty.IsMapType():
		return ty.ElementType()
	case ty.IsObjectType() && ty.HasAttribute(name):
		return ty.AttributeType(name)
	}
	return cty.NilType
}
