// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/bounds"
)

// tofuFunctions returns the functions that OpenTofu has and terraform has not, with the "core::"
// names.
var tofuFunctions = sync.OnceValue(func() map[string]function.Function {
	return finished(map[string]function.Function{
		"base64gunzip": base64GunzipFunction,
		"cidrcontains": cidrContainsFunction,
		"urldecode":    urlDecodeFunction,
	})
})

// OnlyInTofu reports whether a name, in either of its forms, is that of a function that OpenTofu
// has and terraform has not.
func OnlyInTofu(name string) bool {
	_, found := tofuFunctions()[name]
	return found
}

var base64GunzipFunction = functionOf(cty.String, "Decodes Base64 text and decompresses the bytes, which gzip has compressed.",
	[]function.Parameter{{Name: "str", Type: cty.String, AllowMarked: true}},
	func(args []cty.Value) (cty.Value, error) {
		source, own := args[0].Unmark()
		compressed, err := decodeBase64(source.AsString(), own)
		if err != nil {
			return cty.NilVal, err
		}
		reader, err := gzip.NewReader(bytes.NewReader(compressed))
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(0, "the decoded bytes were not compressed with gzip")
		}
		text, err := io.ReadAll(io.LimitReader(reader, bounds.MaxText+1)) // a small argument can have a huge result
		switch {
		case err != nil:
			return cty.NilVal, function.NewArgErrorf(0, "the decoded bytes were not compressed with gzip, or are not all of it")
		case len(text) > bounds.MaxText:
			return cty.NilVal, errTooMuchText
		case !utf8.Valid(text):
			return cty.NilVal, function.NewArgErrorf(0, "the decompressed bytes are not UTF-8, so they cannot be a string")
		}
		return cty.StringVal(string(text)).WithMarks(own), nil
	})

var cidrContainsFunction = functionOf(cty.Bool, "Reports whether an address, or all addresses of a prefix, are in a prefix.",
	[]function.Parameter{{Name: "containing_prefix", Type: cty.String}, {Name: "contained_ip_or_prefix", Type: cty.String}},
	func(args []cty.Value) (cty.Value, error) {
		around, err := parsePrefix(args[0])
		if err != nil {
			return cty.NilVal, err
		}
		text := withoutLeadingZeros(args[1].AsString())
		inside := &net.IPNet{IP: net.ParseIP(text)}
		if inside.IP == nil {
			if _, inside, err = net.ParseCIDR(text); err != nil {
				return cty.NilVal, function.NewArgErrorf(1, "neither an address nor an address prefix")
			}
		}
		if (around.IP.To4() == nil) != (inside.IP.To4() == nil) {
			return cty.NilVal, errors.New("one of the two is for IPv4, the other one for IPv6")
		}
		return cty.BoolVal(around.Contains(inside.IP) && hostBits(inside) <= hostBits(around)), nil
	})

// hostBits returns how many bits tell the addresses of a prefix from each other; none of an address
// without a mask. IPv4 has as many when it is written as a part of IPv6.
func hostBits(prefix *net.IPNet) int {
	ones, bits := prefix.Mask.Size()
	return bits - ones
}

var urlDecodeFunction = functionOf(cty.String, "Decodes a string of the query part of a URL.",
	[]function.Parameter{{Name: "str", Type: cty.String, AllowMarked: true}},
	func(args []cty.Value) (cty.Value, error) {
		source, own := args[0].Unmark()
		text, err := url.QueryUnescape(source.AsString())
		switch {
		case err != nil:
			return cty.NilVal, function.NewArgErrorf(0, "%s has a percent sign without two hexadecimal digits after it",
				quoted(source.AsString(), own))
		case !utf8.ValidString(text):
			return cty.NilVal, function.NewArgErrorf(0, "the decoded bytes are not UTF-8, so they cannot be a string")
		}
		return cty.StringVal(text).WithMarks(own), nil
	})
