// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
)

var base64DecodeFunction = functionOf(cty.String, "Decodes Base64 text that holds UTF-8.",
	[]function.Parameter{{Name: "str", Type: cty.String, AllowMarked: true}},
	func(args []cty.Value) (cty.Value, error) {
		source, own := args[0].Unmark()
		decoded, err := decodeBase64(source.AsString(), own)
		if err != nil {
			return cty.NilVal, err
		}
		if !utf8.Valid(decoded) {
			return cty.NilVal, function.NewArgErrorf(0, "the decoded bytes are not UTF-8, so they cannot be a string")
		}
		return cty.StringVal(string(decoded)).WithMarks(own), nil
	})

func decodeBase64(source string, own cty.ValueMarks) ([]byte, error) {
	decoded, err := base64.StdEncoding.DecodeString(source)
	if err != nil {
		return nil, function.NewArgErrorf(0, "%s is not Base64", quoted(source, own))
	}
	return decoded, nil
}

var base64GzipFunction = functionOf(cty.String, "Compresses a string with gzip and encodes the result in Base64.",
	[]function.Parameter{{Name: "str", Type: cty.String}},
	func(args []cty.Value) (cty.Value, error) {
		var compressed bytes.Buffer
		w := gzip.NewWriter(&compressed)
		if _, err := w.Write([]byte(args[0].AsString())); err != nil {
			return cty.NilVal, err
		}
		// The flush adds an empty block. It stays, because other bytes than terraform's would show as a
		// change of the users of the result.
		if err := w.Flush(); err != nil {
			return cty.NilVal, err
		}
		if err := w.Close(); err != nil {
			return cty.NilVal, err
		}
		return cty.StringVal(base64.StdEncoding.EncodeToString(compressed.Bytes())), nil
	})

var textEncodeBase64Function = functionOf(cty.String, "Writes a string in a character encoding and encodes the bytes in Base64.",
	[]function.Parameter{{Name: "string", Type: cty.String}, {Name: "encoding", Type: cty.String}},
	func(args []cty.Value) (cty.Value, error) {
		charset, err := characterEncoding(args[1])
		if err != nil {
			return cty.NilVal, err
		}
		encoded, err := charset.NewEncoder().Bytes([]byte(args[0].AsString()))
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(0, "the string has characters that the encoding cannot express")
		}
		return cty.StringVal(base64.StdEncoding.EncodeToString(encoded)), nil
	})

var textDecodeBase64Function = functionOf(cty.String, "Decodes Base64 text and reads the bytes in a character encoding.",
	[]function.Parameter{{Name: "source", Type: cty.String, AllowMarked: true}, {Name: "encoding", Type: cty.String}},
	func(args []cty.Value) (cty.Value, error) {
		charset, err := characterEncoding(args[1])
		if err != nil {
			return cty.NilVal, err
		}
		source, own := args[0].Unmark()
		encoded, err := decodeBase64(source.AsString(), own)
		if err != nil {
			return cty.NilVal, err
		}
		decoded, err := charset.NewDecoder().Bytes(encoded)
		if err != nil || bytes.ContainsRune(decoded, utf8.RuneError) {
			return cty.NilVal, function.NewArgErrorf(0, "the bytes are not text in that encoding")
		}
		return cty.StringVal(string(decoded)).WithMarks(own), nil
	})

func characterEncoding(name cty.Value) (encoding.Encoding, error) {
	charset, err := ianaindex.IANA.Encoding(name.AsString())
	if err == nil && charset == nil {
		err = errors.New("known name, but no converter")
	}
	if err != nil {
		return nil, function.NewArgErrorf(1, "no character encoding is known by this IANA name: %w", err)
	}
	return charset, nil
}
