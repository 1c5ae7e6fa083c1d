// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"math/big"
	"net"
	"strings"

	"github.com/apparentlymart/go-cidr/cidr"
	cidrfuncs "github.com/hashicorp/go-cty-funcs/cidr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/gocty"
)

var prefixParameter = function.Parameter{Name: "prefix", Type: cty.String}

// withoutLeadingZeros takes leading zeros off the numbers of an address. The language takes the
// numbers of IPv4 addresses as decimal; Go's parser refuses them with leading zeros, since others
// read those as octal.
func withoutLeadingZeros(prefix string) string {
	address, length, hasLength := strings.Cut(prefix, "/")
	var b strings.Builder
	inNumber := false // past the leading zeros
	for i, c := range address {
		last := i+1 == len(address) || strings.ContainsRune(".:", rune(address[i+1]))
		switch {
		case c == '.' || c == ':':
			inNumber = false
		case c == '0' && !inNumber && !last:
			continue
		default:
			inNumber = true
		}
		b.WriteRune(c)
	}
	if hasLength {
		return b.String() + "/" + length
	}
	return b.String()
}

func parsePrefix(arg cty.Value) (*net.IPNet, error) {
	_, network, err := net.ParseCIDR(withoutLeadingZeros(arg.AsString()))
	if err != nil {
		// The error of the parser says no more and quotes the argument.
		return nil, function.NewArgErrorf(0, "not an address prefix like 10.0.0.0/8 or fd00::/8")
	}
	return network, nil
}

// The library does the work, with a prefix that it can read.
var cidrSubnetsFunction = function.New(&function.Spec{
	Description:  "Returns consecutive subnets of a prefix, of the given numbers of additional bits.",
	Params:       []function.Parameter{prefixParameter},
	VarParam:     cidrfuncs.SubnetsFunc.VarParam(),
	Type:         function.StaticReturnType(cty.List(cty.String)),
	RefineResult: refineNotNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		network, err := parsePrefix(args[0])
		if err != nil {
			return cty.NilVal, err
		}
		return cidrfuncs.Subnets(cty.StringVal(network.String()), args[1:]...)
	},
})

var cidrHostFunction = functionOf(cty.String, "Returns the address with a number inside a prefix; negative numbers count from its end.",
	[]function.Parameter{prefixParameter, {Name: "hostnum", Type: cty.Number}},
	func(args []cty.Value) (cty.Value, error) {
		network, err := parsePrefix(args[0])
		if err != nil {
			return cty.NilVal, err
		}
		var number *big.Int
		if err := gocty.FromCtyValue(args[1], &number); err != nil {
			return cty.NilVal, function.NewArgError(1, err)
		}
		if ones, bits := network.Mask.Size(); number.BitLen() > bits { // of which the library sees the last 64 bits
			return cty.NilVal, function.NewArgErrorf(1, "a prefix of %d bits has no host of that number", ones)
		}
		address, err := cidr.HostBig(network, number)
		if err != nil {
			return cty.NilVal, function.NewArgError(1, err)
		}
		return cty.StringVal(address.String()), nil
	})

var cidrNetmaskFunction = functionOf(cty.String, "Returns an IPv4 prefix as a subnet mask.",
	[]function.Parameter{prefixParameter},
	func(args []cty.Value) (cty.Value, error) {
		network, err := parsePrefix(args[0])
		if err != nil {
			return cty.NilVal, err
		}
		if network.IP.To4() == nil {
			return cty.NilVal, function.NewArgErrorf(0, "IPv6 has no subnet masks")
		}
		return cty.StringVal(net.IP(network.Mask).String()), nil
	})

var cidrSubnetFunction = functionOf(cty.String, "Returns the subnet with a number inside a prefix.",
	[]function.Parameter{prefixParameter, {Name: "newbits", Type: cty.Number}, {Name: "netnum", Type: cty.Number}},
	func(args []cty.Value) (cty.Value, error) {
		network, err := parsePrefix(args[0])
		if err != nil {
			return cty.NilVal, err
		}
		var bits int
		if err := gocty.FromCtyValue(args[1], &bits); err != nil {
			return cty.NilVal, function.NewArgError(1, err)
		}
		var number *big.Int
		if err := gocty.FromCtyValue(args[2], &number); err != nil {
			return cty.NilVal, function.NewArgError(2, err)
		}
		if number.BitLen() > max(bits, 64) { // of which the library sees 64 bits
			return cty.NilVal, function.NewArgErrorf(2, "%d bits are not enough for that number of a subnet", bits)
		}
		subnet, err := cidr.SubnetBig(network, bits, number)
		if err != nil {
			return cty.NilVal, err
		}
		return cty.StringVal(subnet.String()), nil
	})
