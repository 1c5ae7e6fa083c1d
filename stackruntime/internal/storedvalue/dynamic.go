// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package storedvalue

import (
	"bytes"
	"math/big"
	"sync"
	"sync/atomic"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
)

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
