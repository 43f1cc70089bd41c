// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"fmt"
	"net/netip"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/gocty"
)

// addressBits is the length of an IPv4 address.
const addressBits = 32

// usableAddressesFunction counts the addresses of an IPv4 prefix that are left
// for its users, 2^(32-p) less those that the cloud keeps for itself (five in
// Azure and AWS, four in Google Cloud), and never less than none.
func usableAddressesFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "prefix", Type: cty.String}, {Name: "reserved", Type: cty.Number}},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			var reserved int64
			if err := gocty.FromCtyValue(args[1], &reserved); err != nil || reserved < 0 {
				return cty.UnknownVal(cty.Number), function.NewArgErrorf(1, "the number of reserved addresses is a whole number from 0")
			}
			n, err := addresses(args[0].AsString())
			if err != nil {
				return cty.UnknownVal(cty.Number), function.NewArgError(0, err)
			}
			return cty.NumberIntVal(max(0, n-reserved)), nil
		},
	})
}

func addresses(text string) (int64, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil || !p.Addr().Is4() {
		return 0, fmt.Errorf("%q is no IPv4 prefix such as 10.0.0.0/24", clip(text))
	}
	return 1 << (addressBits - p.Bits()), nil
}
