// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package safevalue decodes values in MessagePack that may be hostile, as cty does others: of
// clients, and of files that may be damaged.
//
// cty makes room for as many elements as the data says that there are, and calls itself for each
// level of nesting: a few bytes could end the process.
package safevalue

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
)

const (
	maxDepth    = 1000
	maxElements = 1 << 22 // in all; each takes far more memory than the byte that it may be
)

var (
	errTruncated = errors.New("the value ends early")
	errDeep      = errors.New("the value is nested too deeply")
	errMany      = errors.New("the value has too many elements")
	errType      = errors.New("the value has another type: an object without attributes")
	errUnknown   = errors.New("the value has an unknown kind of data")
)

// Unmarshal returns a value of a type, or with [cty.DynamicPseudoType] of the type in the data;
// with an error it is [cty.NilVal].
func Unmarshal(data []byte, ty cty.Type) (v cty.Value, err error) {
	if err := Check(data); err != nil {
		return cty.NilVal, err
	}
	defer func() { // of numbers that are none, and of values that contradict their type
		if panicked := recover(); panicked != nil {
			v, err = cty.NilVal, fmt.Errorf("inconsistent value: %v", panicked)
		}
	}()
	if v, err = ctymsgpack.Unmarshal(data, ty); err != nil {
		return cty.NilVal, err
	}
	if len(v.Type().TestConformance(ty)) > 0 { // cty takes a map without elements for an object of any type
		return cty.NilVal, errType
	}
	return v, nil
}

// Check reports data that would be costly to decode: lengths that the data cannot hold, too many
// elements, or too much nesting.
func Check(data []byte) error {
	s := scanner{data: data}
	return s.skip(0)
}

// scanner goes over encoded data.
type scanner struct {
	data     []byte
	elements int
}

// skip skips one value.
func (s *scanner) skip(depth int) error {
	if len(s.data) == 0 {
		return errTruncated
	}
	if depth > maxDepth {
		return errDeep
	}
	head := s.data[0]
	s.data = s.data[1:]
	switch {
	case head <= 0x7f || head >= 0xe0 || head == 0xc0 || head == 0xc2 || head == 0xc3:
		return nil
	case head <= 0x8f:
		return s.skipElements(2*int(head&0x0f), depth)
	case head <= 0x9f:
		return s.skipElements(int(head&0x0f), depth)
	case head <= 0xbf:
		return s.skipBytes(int(head & 0x1f))
	}
	kind, ok := kinds[head]
	if !ok {
		return errUnknown
	}
	size, err := s.number(kind.lengthSize)
	if err != nil {
		return err
	}
	if kind.elements > 0 {
		return s.skipElements(kind.elements*size, depth)
	}
	return s.skipBytes(kind.bytes + size)
}

// kinds are the kinds of data with a head of their own: those with a length in the next bytes, with
// elements for each, or of some bytes besides.
var kinds = map[byte]struct{ lengthSize, elements, bytes int }{
	0xc4: {lengthSize: 1}, 0xc5: {lengthSize: 2}, 0xc6: {lengthSize: 4}, // bytes
	0xc7: {lengthSize: 1, bytes: 1}, 0xc8: {lengthSize: 2, bytes: 1}, 0xc9: {lengthSize: 4, bytes: 1}, // extensions
	0xca: {bytes: 4}, 0xcb: {bytes: 8}, // floating point
	// Integers.
	0xcc: {bytes: 1}, 0xcd: {bytes: 2}, 0xce: {bytes: 4}, 0xcf: {bytes: 8},
	0xd0: {bytes: 1}, 0xd1: {bytes: 2}, 0xd2: {bytes: 4}, 0xd3: {bytes: 8},
	0xd4: {bytes: 2}, 0xd5: {bytes: 3}, 0xd6: {bytes: 5}, 0xd7: {bytes: 9}, 0xd8: {bytes: 17}, // extensions
	0xd9: {lengthSize: 1}, 0xda: {lengthSize: 2}, 0xdb: {lengthSize: 4}, // strings
	0xdc: {lengthSize: 2, elements: 1}, 0xdd: {lengthSize: 4, elements: 1}, // lists
	0xde: {lengthSize: 2, elements: 2}, 0xdf: {lengthSize: 4, elements: 2}, // maps
}

// number reads a length of some bytes; without any it is 0.
func (s *scanner) number(size int) (int, error) {
	if len(s.data) < size {
		return 0, errTruncated
	}
	var padded [4]byte
	copy(padded[4-size:], s.data)
	s.data = s.data[size:]
	return int(binary.BigEndian.Uint32(padded[:])), nil
}

func (s *scanner) skipBytes(n int) error {
	if len(s.data) < n {
		return errTruncated
	}
	s.data = s.data[n:]
	return nil
}

func (s *scanner) skipElements(n, depth int) error {
	if len(s.data) < n { // each has one byte at least
		return errTruncated
	}
	if s.elements += n; s.elements > maxElements {
		return errMany
	}
	for range n {
		if err := s.skip(depth + 1); err != nil {
			return err
		}
	}
	return nil
}
